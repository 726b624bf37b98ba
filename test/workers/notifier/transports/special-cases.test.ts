import test from 'ava'
import type { Outcome } from '#shared/delivery/outcome.ts'
import { permanent } from '#shared/delivery/outcome.ts'
import { integrationKinds } from '#shared/monitoring/integrations/kinds.ts'
import { createHttpClient } from '#shared/platform/http/http-client.ts'
import { transports } from '../../../../workers/notifier/transports/registry.ts'
import { openHttpSink } from '../../../support/http-sink.ts'
import { someNotification, someRecovery } from '../../../support/notification.ts'
import { openTransportContext } from '../transport-context.ts'

const transport = (kind: string) => {
  const found = transports.get(kind)
  if (!found) throw new Error(`no transport for ${kind}`)
  return found
}

test('every kind has a transport, and every transport a kind', (t) => {
  t.deepEqual([...transports.keys()].sort(), [...integrationKinds.keys()].sort())
})

test('a test message has neither the colour of a failure nor that of a recovery', async (t) => {
  await using sink = await openHttpSink()
  await using context = openTransportContext()
  for (const isTest of [true, false])
    await transport('slack').send(context, { url: sink.url }, someNotification({ isTest }))
  const colours = sink.requests.map(({ body }) => JSON.parse(String(body)).attachments[0].color)
  t.deepEqual(colours, ['#47618f', '#c62828'])
})

test('a webhook encodes placeholders by their position, in one pass', async (t) => {
  await using sink = await openHttpSink()
  await using context = openTransportContext()
  const check = { ...someNotification().check, name: 'a/b & $TAGS "ü"\r\nx-evil: 1', tags: 'one two' }
  const config = {
    url_down: `${sink.url}/$CODE/$SLUG?name=$NAME&tag=$TAG2&at=$NOW`,
    method_down: 'PUT',
    body_down: '$NAME_JSON $BODY_JSON $EXITSTATUS $JSON',
    headers_down: { 'X-Name': '$NAME €', 'Content-Type': 'text/x-own' },
  }
  const outcome = await transport('webhook').send(context, config, someNotification({ check }))
  t.is(outcome.result, 'delivered')
  const [request] = sink.requests
  t.is(request?.method, 'PUT')
  t.is(request?.path, '/803f680d-e89b-492b-82ef-2be7b774a92d/db-backup')
  t.is(request?.query.get('name'), check.name)
  t.is(request?.query.get('tag'), 'two')
  t.is(request?.query.get('at'), '2026-01-31T10:00:00+00:00')
  t.is(
    Buffer.from(String(request?.headers['x-name']), 'latin1').toString('latin1'),
    'a/b & $TAGS "ü" x-evil: 1 &#8364;',
  )
  t.is(request?.headers['content-type'], 'text/x-own')
  t.is(request?.headers['x-evil'], undefined)
  t.is(request?.body.toString(), `${JSON.stringify(check.name)} "rows: 42" -1 ${check.json}`)
})

test('a webhook sends GET without a body and the same id per attempt', async (t) => {
  await using sink = await openHttpSink()
  await using context = openTransportContext()
  const config = { url: sink.url, method_down: 'GET', body_down: 'never' }
  await transport('webhook').send(context, config, someNotification())
  await transport('webhook').send(context, config, someNotification())
  t.deepEqual(
    sink.requests.map(({ method, body, headers }) => [method, body.byteLength, headers['x-signalbox-notification']]),
    [0, 1].map(() => ['GET', 0, someNotification().id]),
  )
})

test('refuses a webhook to a private address without naming the address', async (t) => {
  await using sink = await openHttpSink()
  await using http = createHttpClient({ policy: { allowPrivate: false, plainHttp: 'anywhere' }, userAgent: 'x' })
  await using context = openTransportContext({ http })
  for (const url of [sink.url, 'http://0x7f.1:9000/', 'http://[::ffff:127.0.0.1]:9000/'])
    t.like(await transport('webhook').send(context, { url }, someNotification()), {
      result: 'temporary',
      error: 'Connections to private IP addresses are not allowed',
    })
  t.is(sink.requests.length, 0)
})

test('a webhook follows at most three redirects', async (t) => {
  await using sink = await openHttpSink()
  await using context = openTransportContext()
  const redirect = { status: 302, headers: { location: '/next' } }
  sink.enqueue(redirect, redirect, redirect)
  t.is((await transport('webhook').send(context, { url: sink.url }, someNotification())).result, 'delivered')
  sink.enqueue(redirect, redirect, redirect, redirect)
  t.like(await transport('webhook').send(context, { url: sink.url }, someNotification()), {
    error: 'Too many redirects',
  })
})

test('follows a Telegram group to its new id and saves it', async (t) => {
  await using sink = await openHttpSink()
  await using context = openTransportContext()
  sink.enqueue({ status: 400, body: '{"ok":false,"parameters":{"migrate_to_chat_id":-100200}}' })
  const config = { base_url: sink.url, token: '1:a', id: -5 }
  t.is((await transport('telegram').send(context, config, someNotification())).result, 'delivered')
  t.deepEqual(context.saved, [{ ...config, id: -100200 }])
  t.is(JSON.parse(String(sink.requests[1]?.body)).chat_id, -100200)
})

test('retries after the flood limit of Telegram', async (t) => {
  await using sink = await openHttpSink()
  await using context = openTransportContext()
  sink.enqueue({ status: 429, body: '{"ok":false,"parameters":{"retry_after":42}}' })
  const config = { base_url: sink.url, token: '1:a', id: -5 }
  t.like(await transport('telegram').send(context, config, someNotification()), {
    result: 'temporary',
    retryAfterSeconds: 42,
  })
})

test('omits the body of a Pushover message that is too long', async (t) => {
  await using sink = await openHttpSink()
  await using context = openTransportContext()
  const { lastPing } = someNotification()
  if (!lastPing) return t.fail()
  const long = { ...lastPing, body: Buffer.from('&'.repeat(900)) }
  const config = { base_url: sink.url, token: 'app', user_key: 'u' }
  await transport('po').send(context, config, someNotification({ lastPing: long }))
  const message = new URLSearchParams(String(sink.requests[0]?.body)).get('message') ?? ''
  t.true(message.length <= 1024 && message.includes('is DOWN') && !message.includes('&amp;&amp;'))
})

test('replaces control characters of a name in webhook headers', async (t) => {
  await using sink = await openHttpSink()
  await using context = openTransportContext()
  const check = { ...someNotification().check, name: 'a\u0001b' }
  const config = { url: sink.url, headers_down: { 'X-Name': '$NAME' } }
  t.is((await transport('webhook').send(context, config, someNotification({ check }))).result, 'delivered')
  t.is(sink.requests[0]?.headers['x-name'], 'a b')
})

test('a Pushover recovery first cancels the emergency', async (t) => {
  await using sink = await openHttpSink()
  await using context = openTransportContext()
  const config = { base_url: sink.url, token: 'app', user_key: 'u', priority: 2 }
  await transport('po').send(context, config, someNotification())
  const emergency = new URLSearchParams(String(sink.requests[0]?.body))
  t.deepEqual([emergency.get('priority'), emergency.get('retry'), emergency.get('expire')], ['2', '300', '86400'])
  await transport('po').send(context, config, someRecovery())
  t.is(sink.requests[1]?.url, '/1/receipts/cancel_by_tag/124f983e0e3dcaeba921cfcef46efd084576e783.json')
  t.is(sink.requests[2]?.url, '/1/messages.json')
})

for (const [kind, provider] of [
  ['sms', 'SMS'],
  ['call', 'Call'],
  ['whatsapp', 'WhatsApp'],
] as const)
  test(`${kind} without a gateway is a final failure`, async (t) => {
    await using context = openTransportContext()
    t.like(await transport(kind).send(context, { value: '+15550100' }, someNotification()), {
      result: 'temporary',
      error: `${provider} notifications are not enabled`,
      final: true,
    })
  })

test('a group notifies its members and counts failures', async (t) => {
  const members = ['c0ffee00-0000-4000-8000-00000000000a', 'c0ffee00-0000-4000-8000-00000000000b']
  const outcomes: Outcome[] = [{ result: 'delivered' }, permanent('deleted', { failure: 'status' })]
  const requested: (readonly string[])[] = []
  const sendToMembers = async (ids: readonly string[]) => {
    requested.push(ids)
    return outcomes
  }
  await using context = openTransportContext({ sendToMembers })
  t.like(await transport('group').send(context, { channels: members }, someNotification()), {
    result: 'temporary',
    error: '1 out of 2 notifications failed',
    final: true,
  })
  outcomes.pop()
  t.is((await transport('group').send(context, { channels: members }, someNotification())).result, 'delivered')
  t.deepEqual(requested, [members, members])
})

test('chat messages truncate long bodies and quote no e-mails', async (t) => {
  await using sink = await openHttpSink()
  await using context = openTransportContext()
  const { lastPing } = someNotification()
  if (!lastPing) return t.fail()
  const config = { base_url: sink.url, access_token: 't' }
  const long = { ...lastPing, body: Buffer.from('x'.repeat(1500)) }
  await transport('pushbullet').send(context, config, someNotification({ lastPing: long }))
  const text = String(sink.requests[0]?.body)
  t.true(text.includes(`${'x'.repeat(1000)}\\n[truncated]`))
  t.false(text.includes('x'.repeat(1001)))
  const mail = { ...lastPing, scheme: 'email' as const, body: Buffer.from('Subject: private') }
  await transport('pushbullet').send(context, config, someNotification({ lastPing: mail }))
  t.false(String(sink.requests[1]?.body).includes('private'))
})

for (const kind of ['mattermost', 'rocketchat', 'discord', 'msteamsw', 'matrix'] as const)
  test(`L12: names and tags cause no mentions or links in ${kind}`, async (t) => {
    await using sink = await openHttpSink()
    await using context = openTransportContext()
    const check = { ...someNotification().check, name: '[win](https://evil.example)', tags: '@all [x](y)' }
    const url = `${sink.url}/hook`
    const config = kind === 'matrix' ? { homeserver: sink.url, access_token: 't', room_id: '!r' } : { url }
    await transports.get(kind)?.send(context, config, someNotification({ check }))
    const message = JSON.parse((await sink.waitFor(1)).body.toString(), (name, value) =>
      // Clients without cards show it as plain text.
      name === 'fallbackText' ? undefined : value,
    )
    const texts: string[] = []
    JSON.stringify(message, (_name, value) => {
      if (typeof value === 'string') texts.push(value)
      return value
    })
    if (kind === 'matrix') t.deepEqual(message['m.mentions'], {})
    else
      t.deepEqual(
        texts.filter((text) => /(?<!\\)\]\(|(?<!\\)@all/.test(text)),
        [],
      )
  })

const FORMATTED = '*/5 * * * * _a_ ~b~ `c` [x](y) @all <d> &'

/** Returns a notification with special characters in every user text. */
function formatted() {
  const { check, lastPing } = someNotification()
  return someNotification({
    check: { ...check, name: FORMATTED, kind: 'cron', schedule: FORMATTED, tags: FORMATTED, tz: FORMATTED },
    projectName: FORMATTED,
    lastPing: lastPing && { ...lastPing, body: Buffer.from(`a\n\`\`\`\n${FORMATTED}`) },
  })
}

test('Slack does not format user texts', async (t) => {
  await using sink = await openHttpSink()
  await using context = openTransportContext()
  await transport('slack').send(context, { url: `${sink.url}/hook` }, formatted())
  const [card] = JSON.parse((await sink.waitFor(1)).body.toString()).attachments
  t.deepEqual(card.mrkdwn_in, [])
  const schedule = card.fields.find(({ title }: { title: string }) => title === 'Schedule').value
  t.is(schedule, FORMATTED.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;'))
  t.false(JSON.stringify(card).includes('<d>'))
})

test('Discord messages escape user texts for Markdown, not for Slack', async (t) => {
  await using sink = await openHttpSink()
  await using context = openTransportContext()
  await transport('discord').send(context, { url: `${sink.url}/hook` }, formatted())
  const [card] = JSON.parse((await sink.waitFor(1)).body.toString()).attachments
  const { fields, ...rest } = card
  const body = fields.pop().value
  t.is(body.split('```').length, 3, 'the body cannot end the code block')
  for (const text of [rest.title, rest.text, ...fields.map(({ value }: { value: string }) => value)]) {
    t.notRegex(text, /&(lt|gt|amp);/)
    t.notRegex(text, /(?<!\\)[*_~`[\]<>@]/)
  }
})
