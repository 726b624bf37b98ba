import test from 'ava'
import { transports } from '../../../../workers/notifier/transports/registry.ts'
import { openHttpSink } from '../../../support/http-sink.ts'
import { someNotification, someRecovery } from '../../../support/notification.ts'
import { openTransportContext } from '../transport-context.ts'

const transport = (kind: string) => {
  const found = transports.get(kind)
  if (!found) throw new Error(`no transport for ${kind}`)
  return found
}

const ackUrl = 'https://signals.example/a/AAAAAAAAAAAAAAAAAAAAAA'
const alert = {
  incidentId: 'b1f3c3c8-0e0c-4a3e-9a53-3f3d4f1f8a10',
  what: 'first',
  severity: 'critical',
  downAt: 0,
  step: 1,
  repeat: 0,
  url: 'https://signals.example/incidents/b1',
  ackUrl,
  steps: null,
  nextIn: null,
  recipientText: '',
  downAgo: 0,
  lateBy: 0,
  lateReason: '',
  suppressedBy: '',
} as const

for (const [kind, config, part] of [
  ['msteamsw', (url: string) => ({ url }), { type: 'Action.OpenUrl', title: 'Acknowledge', url: ackUrl }],
  ['googlechat', (url: string) => ({ url }), { text: 'Acknowledge', onClick: { openLink: { url: ackUrl } } }],
  ['slack', (url: string) => ({ url }), { type: 'button', text: 'Acknowledge', url: ackUrl }],
  ['telegram', (url: string) => ({ base_url: url, token: '1:a', id: -5 }), { text: 'Acknowledge', url: ackUrl }],
  ['gotify', (url: string) => ({ url, token: 't' }), { click: { url: ackUrl } }],
  [
    'ntfy',
    (url: string) => ({ url, topic: 'a' }),
    {
      action: 'http',
      label: 'Acknowledge',
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'do=ack',
      clear: true,
      url: ackUrl,
    },
  ],
] as const)
  test(`${kind} offers the link of a down alert as a button, and none after a recovery`, async (t) => {
    await using sink = await openHttpSink()
    await using context = openTransportContext()
    t.is((await transport(kind).send(context, config(sink.url), someNotification({ alert }))).result, 'delivered')
    t.true(String(sink.requests[0]?.body).includes(JSON.stringify(part)), String(sink.requests[0]?.body))
    const recovery = { ...alert, what: 'recovery' } as const
    await transport(kind).send(context, config(sink.url), someRecovery({ alert: recovery }))
    t.false(String(sink.requests[1]?.body).includes(ackUrl))
  })

for (const [url, isAnswered] of [
  [ackUrl, true],
  [ackUrl.replace('https:', 'http:'), false],
] as const)
  test(`a call ${isAnswered ? 'speaks twice and waits for a key' : 'only speaks without an https address'}`, async (t) => {
    await using sink = await openHttpSink()
    const twilio = { url: sink.url, account: 'AC', auth: 'x', from: '+15550000' }
    const settings = { siteName: 'Signalbox', twilio, appriseUrl: null, mayRunCommands: false }
    await using context = openTransportContext({ settings })
    const notification = someNotification({ alert: { ...alert, ackUrl: url } })
    await transport('call').send(context, { value: '+15550100' }, notification)
    const script = new URLSearchParams(String(sink.requests[0]?.body)).get('Twiml') ?? ''
    t.is(script.includes(`<Gather numDigits="1" timeout="10" method="POST" action="${url}/keys">`), isAnswered, script)
    t.is(script.includes('<Say loop="2">') && script.includes('Press 1 to acknowledge, or 2 to escalate.'), isAnswered)
    t.false(script.replace(/action="[^"]*"/, '').includes(url), 'the address is not spoken')
  })

test('the link of a Pushover alert acknowledges', async (t) => {
  await using sink = await openHttpSink()
  await using context = openTransportContext()
  const config = { base_url: sink.url, token: 'app', user_key: 'u' }
  await transport('po').send(context, config, someNotification({ alert }))
  const sent = new URLSearchParams(String(sink.requests[0]?.body))
  t.deepEqual([sent.get('url'), sent.get('url_title')], [ackUrl, 'Acknowledge'])
})

test('a tap on an ntfy message opens the link of an alert, and the incident after a recovery', async (t) => {
  await using sink = await openHttpSink()
  await using context = openTransportContext()
  const config = { url: sink.url, topic: 'a' }
  await transport('ntfy').send(context, config, someNotification({ alert }))
  await transport('ntfy').send(context, config, someRecovery({ alert: { ...alert, what: 'recovery' } }))
  const clicks = sink.requests.map(({ body }) => JSON.parse(String(body)).click)
  t.deepEqual(clicks, [ackUrl, alert.url])
})

test('sends the link as text when Telegram refuses a button to a private host', async (t) => {
  await using sink = await openHttpSink()
  await using context = openTransportContext()
  sink.enqueue({ status: 400, body: '{"ok":false,"description":"Bad Request: inline keyboard button URL is invalid"}' })
  const config = { base_url: sink.url, token: '1:a', id: -5 }
  t.is((await transport('telegram').send(context, config, someNotification({ alert }))).result, 'delivered')
  const [first, second] = sink.requests.map(({ body }) => JSON.parse(String(body)))
  t.false(first.text.includes(ackUrl))
  t.is(second.reply_markup, undefined)
  t.true(second.text.includes(`<a href="${ackUrl}">Acknowledge</a>`))
})
