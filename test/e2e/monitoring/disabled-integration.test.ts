import test from 'ava'
import { type HttpSink, openHttpSink } from '../../support/http-sink.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { openSmtpSink, type RecordedMail, type SmtpSink } from '../../support/smtp-sink.ts'
import { aProject } from './project.ts'

const resources = new AsyncDisposableStack()
let app: HttpProduct
let mail: SmtpSink
let sink: HttpSink
test.before(async () => {
  mail = resources.use(await openSmtpSink())
  sink = resources.use(await openHttpSink())
  sink.respond = ({ path }) => ({ status: path.startsWith('/gone') ? 404 : 500 })
  app = resources.use(
    await openProduct({ listener: 'http', workers: ['ping-evaluator', 'notifier'], env: { SMTP_URL: mail.url } }),
  )
})
test.after.always(async () => {
  await resources.disposeAsync()
})

/** Returns the text of a mail without line folding. */
const textOf = (raw: Buffer) =>
  raw
    .toString()
    .replaceAll('=\r\n', '')
    .replace(/\r\n[ \t]/g, ' ')
const isNoticeTo = (address: string) => (one: RecordedMail) =>
  one.to.includes(address) && textOf(one.raw).includes('Message-ID: <disabled.')
const noticesTo = (address: string) => mail.mails.filter(isNoticeTo(address)).map(({ raw }) => textOf(raw))

test('a permanent failure disables an integration and mails the others once', async (t) => {
  const { integration, check, ping, ended, call } = await aProject(app)
  const slack = await integration('slack', { url: `${sink.url}/gone/T0/secret-of-slack` }, 'Team <b>chat</b>')
  const ops = await integration('email', { value: 'ops@one.example' }, 'ops')
  const unassigned = await integration('email', { value: 'boss@one.example', down: false }, 'boss')
  const off = await integration('email', { value: 'off@one.example' }, 'off')
  await call('POST', `/channels/${off}`, { disabled: true })
  const uuids = [await check([slack, ops], 'a'), await check([slack, ops], 'b')]
  await Promise.all(uuids.map((uuid) => ping(uuid, '/fail')))
  await mail.waitFor(isNoticeTo('boss@one.example'))
  await mail.waitFor(isNoticeTo('ops@one.example'))
  t.like(await call('GET', `/channels/${slack}`), { disabled: true, last_error: 'Received status code 404' })
  t.is((await ended(slack, 1))[0]?.state, 'failed')
  // Both alerts to the others were sent, and further ones do not reach the disabled integration.
  await ended(ops, 2)
  await ping(uuids[0] ?? '')
  await ended(ops, 3)

  for (const address of ['ops@one.example', 'boss@one.example']) t.is(noticesTo(address).length, 1, address)
  t.is(noticesTo('off@one.example').length, 0)
  const [text = ''] = noticesTo('boss@one.example')
  t.regex(text, /Received status code 404/)
  t.regex(text, /Team &lt;b&gt;chat&lt;\/b&gt;/)
  t.regex(text, new RegExp(`List-Unsubscribe: <[^>]*${unassigned}`))
  t.false(text.includes('secret-of-slack'))
  t.false(text.includes(`127.0.0.1:${sink.port}`))
  t.like(await call('GET', `/channels/${ops}`), { disabled: false })
})

test('a test message that fails permanently disables its integration too', async (t) => {
  const { integration, call, ended } = await aProject(app)
  const lonely = await integration('discord', { url: `${sink.url}/gone/lonely` })
  await call('POST', `/channels/${lonely}/test`)
  await ended(lonely, 1)
  t.like(await call('GET', `/channels/${lonely}`), { disabled: true })

  const other = await aProject(app)
  await other.integration('email', { value: 'ops@two.example' })
  const discord = await other.integration('discord', { url: `${sink.url}/gone/two` }, '')
  await other.call('POST', `/channels/${discord}/test`)
  await mail.waitFor(isNoticeTo('ops@two.example'))
  t.regex(noticesTo('ops@two.example')[0] ?? '', /^Subject: The integration discord was disabled/m)
})

test('a temporary failure neither disables an integration nor sends a mail', async (t) => {
  const { integration, check, ping, ended, call } = await aProject(app)
  const ops = await integration('email', { value: 'ops@three.example' })
  const slack = await integration('slack', { url: `${sink.url}/slow` })
  await ping(await check([slack]), '/fail')
  await sink.waitFor(({ path }) => path === '/slow')
  await call('POST', `/channels/${ops}/test`)
  await ended(ops, 1)
  t.is(noticesTo('ops@three.example').length, 0)
  t.like(await call('GET', `/channels/${slack}`), { disabled: false })
})
