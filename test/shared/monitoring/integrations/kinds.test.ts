import test from 'ava'
import { findKind, integrationKinds } from '#shared/monitoring/integrations/kinds.ts'

const parse = (kind: string, config: unknown) => {
  const found = findKind(kind)
  if (!found) throw new Error(`no kind ${kind}`)
  return found.parse(config)
}

/** Smallest configuration of each kind and its stored form. */
const smallest: Record<string, [unknown, unknown]> = {
  email: [{ value: 'a@b' }, { value: 'a@b', down: true, up: true }],
  webhook: [
    { url_down: 'https://example.com/d' },
    {
      url_down: 'https://example.com/d',
      url_up: '',
      method_down: 'GET',
      method_up: 'GET',
      body_down: '',
      body_up: '',
      headers_down: {},
      headers_up: {},
    },
  ],
  sms: [{ value: '+15550100' }, { value: '+15550100', down: true, up: true }],
  call: [{ value: '+1 (555) 010-0123' }, { value: '+15550100123' }],
  whatsapp: [
    { value: '+15550100', up: false },
    { value: '+15550100', down: true, up: false },
  ],
  telegram: [
    { token: '1:a', id: '-100' },
    { token: '1:a', id: '-100', base_url: 'https://api.telegram.org' },
  ],
  matrix: [
    { homeserver: 'https://m.example/', access_token: 't', room_id: '!r:m.example' },
    { homeserver: 'https://m.example', access_token: 't', room_id: '!r:m.example' },
  ],
  zulip: [
    { site: 'https://z.example', bot_email: 'b@z.example', api_key: 'k', to: 'ops' },
    { site: 'https://z.example', bot_email: 'b@z.example', api_key: 'k', mtype: 'stream', to: 'ops', topic: '' },
  ],
  signal: [
    { value: '+15550100', number: '+15550199', url: 'http://signal:8080' },
    { value: '+15550100', number: '+15550199', url: 'http://signal:8080', down: true, up: true },
  ],
  ntfy: [{ topic: 'a' }, { topic: 'a', url: 'https://ntfy.sh', priority: 3, priority_up: 3 }],
  apprise: [{ value: 'tgram://token/chat' }, { value: 'tgram://token/chat', down: true, up: true }],
  shell: [{ cmd_down: 'true' }, { cmd_down: 'true', cmd_up: '' }],
  gotify: [
    { url: 'https://g.example', token: 't' },
    { url: 'https://g.example', token: 't' },
  ],
  po: [
    { token: 'a', user_key: 'u' },
    { token: 'a', user_key: 'u', priority: 0, priority_up: 0, base_url: 'https://api.pushover.net' },
  ],
  pushbullet: [{ access_token: 't' }, { access_token: 't', base_url: 'https://api.pushbullet.com' }],
  pd: [{ service_key: 'k' }, { service_key: 'k', base_url: 'https://events.pagerduty.com' }],
  opsgenie: [{ key: 'k' }, { key: 'k', region: 'us' }],
  github: [
    { repo: 'a/b', token: 't' },
    { repo: 'a/b', token: 't', labels: [], base_url: 'https://api.github.com' },
  ],
  trello: [
    { key: 'k', token: 't', list_id: 'l' },
    { key: 'k', token: 't', list_id: 'l', base_url: 'https://api.trello.com' },
  ],
  group: [
    { channels: ['c0ffee00-0000-4000-8000-000000000001'] },
    { channels: ['c0ffee00-0000-4000-8000-000000000001'] },
  ],
  ...Object.fromEntries(
    ['slack', 'mattermost', 'rocketchat', 'discord', 'msteamsw', 'googlechat', 'victorops', 'pagertree', 'spike'].map(
      (kind): [string, [unknown, unknown]] => [
        kind,
        [{ value: 'https://h.example/x' }, { url: 'https://h.example/x' }],
      ],
    ),
  ),
}

for (const [kind, definition] of integrationKinds) {
  test(`${kind}: completes the smallest configuration with defaults, idempotently`, (t) => {
    const [given, stored] = smallest[kind] ?? []
    t.deepEqual(definition.parse(given), { ok: true, config: stored })
    t.deepEqual(definition.parse(stored), { ok: true, config: stored })
  })

  test(`${kind}: refuses unknown members and wrong types`, (t) => {
    const [given] = smallest[kind] ?? []
    t.false(definition.parse({ ...(given ?? {}), colour: 'red' }).ok)
    for (const wrong of [null, 'text', 7, [], {}]) t.false(definition.parse(wrong).ok)
  })

  test(`${kind}: help describes every member, and secrets are members`, (t) => {
    const [, stored] = smallest[kind] ?? []
    const help = definition.help.join('\n')
    for (const member of [...Object.keys(stored ?? {}), ...definition.secretFields])
      t.true(help.includes(member), member)
    t.true(definition.label.length > 0)
  })
}

for (const [alias, kind] of [
  ['pagerduty', 'pd'],
  ['Pushover', 'po'],
  ['msteams', 'msteamsw'],
  ['splunk', 'victorops'],
  ['EMAIL', 'email'],
] as const)
  test(`"${alias}" is an alias of ${kind}`, (t) => {
    t.is(findKind(alias)?.kind, kind)
  })

for (const name of ['', 'fax', 'constructor', '__proto__'])
  test(`"${name}" is not a kind of integration`, (t) => {
    t.is(findKind(name), undefined)
  })

for (const value of [
  'a@x,b@y',
  'a@x, b@y',
  'a@x;b@y',
  'A <a@x>',
  '"a,b"@x',
  'a@x\r\nBcc: b@y',
  'a@b@c',
  'a',
  '@x',
  'a@',
  'a b@x',
  'a@-x',
  `${'a'.repeat(65)}@x`,
])
  test(`the e-mail address ${JSON.stringify(value)} is refused`, (t) => {
    t.false(parse('email', { value }).ok)
  })

for (const value of ['a@b', 'first.last+tag@sub.example.org', "o'neil@example.org", 'a@münchen.example'])
  test(`the e-mail address ${value} is accepted`, (t) => {
    t.true(parse('email', { value }).ok)
  })

for (const value of ['15550100', '+0155501', '+1555abc', '+1', '', 15550100, '+15550100\n+15550101'])
  test(`the phone number ${JSON.stringify(value)} is refused`, (t) => {
    t.false(parse('sms', { value }).ok)
  })

test('a webhook uses one "url" for both directions and POST with a body', (t) => {
  const result = parse('webhook', { url: 'https://example.com/$STATUS', body_up: 'ok' })
  t.like(result, {
    ok: true,
    config: {
      url_down: 'https://example.com/$STATUS',
      url_up: 'https://example.com/$STATUS',
      method_down: 'GET',
      method_up: 'POST',
    },
  })
})

for (const [why, config] of [
  ['no URL', { method_down: 'GET' }],
  ['only empty URLs', { url_down: '', url_up: '' }],
  ['another scheme', { url_down: 'file:///etc/passwd' }],
  ['credentials in the URL', { url_down: 'https://a:b@example.com/' }],
  ['another method', { url: 'https://example.com', method_down: 'DELETE' }],
  ['a line break in a header value', { url: 'https://example.com', headers_down: { 'X-A': 'a\r\nX-B: b' } }],
  ['a line break in a header name', { url: 'https://example.com', headers_down: { 'X-A\r\nX-B': 'b' } }],
  ['a header of the connection', { url: 'https://example.com', headers_down: { 'Transfer-Encoding': 'chunked' } }],
  ['a long URL', { url: `https://example.com/${'x'.repeat(1000)}` }],
  ['a long body', { url: 'https://example.com', body_down: 'x'.repeat(1001) }],
  ['a long header', { url: 'https://example.com', headers_up: { 'X-A': 'x'.repeat(1001) } }],
] as const)
  test(`a webhook with ${why} is refused`, (t) => {
    t.false(parse('webhook', config).ok)
  })

for (const [kind, config, up, down] of [
  ['email', { value: 'a@b', up: false }, true, false],
  ['sms', { value: '+15550100', down: false }, false, true],
  ['call', { value: '+15550100' }, true, false],
  ['webhook', { url_up: 'https://example.com' }, false, true],
  ['webhook', { url: 'https://example.com' }, false, false],
  ['ntfy', { topic: 'a', priority_up: 0 }, true, false],
  ['gotify', { url: 'https://g.example', token: 't', priority: 0 }, false, true],
  ['po', { token: 'a', user_key: 'u', priority: -3 }, false, true],
  ['github', { repo: 'a/b', token: 't' }, true, false],
  ['trello', { key: 'k', token: 't', list_id: 'l' }, true, false],
  ['slack', { url: 'https://h.example' }, false, false],
] as const)
  test(`${kind} ${JSON.stringify(config)} ignores up: ${up}, down: ${down}`, (t) => {
    const found = findKind(kind)
    t.is(found?.isNoop(config, 'up'), up)
    t.is(found?.isNoop(config, 'down'), down)
  })

test('an invalid configuration ignores nothing, so that the attempt fails visibly', (t) => {
  t.false(findKind('email')?.isNoop({}, 'up'))
})

test('derives the rate-limited recipient and the targets from a configuration', (t) => {
  t.is(findKind('ntfy')?.recipientOf({ topic: 'a' }), 'https://ntfy.sh/a')
  t.is(findKind('telegram')?.recipientOf({ token: '1:a', id: -100 }), '-100')
  t.is(findKind('slack')?.recipientOf({ url: 'https://h.example' }), null)
  t.deepEqual(findKind('webhook')?.targetsOf({ url: 'https://example.com' }), ['https://example.com'])
  t.deepEqual(findKind('github')?.targetsOf({ repo: 'a/b', token: 't' }), ['https://api.github.com'])
  t.deepEqual(findKind('email')?.targetsOf({ value: 'a@b' }), [])
})

test('refuses Apprise schemes for arbitrary requests and returns private hosts as targets', (t) => {
  const apprise = integrationKinds.get('apprise')
  for (const value of ['json://10.0.0.1/', 'XMLS://h.example', 'tgram://t/c, form://h.example', 'file:///etc/passwd'])
    t.false(apprise?.parse({ value }).ok, value)
  const hosts: [value: string, targets: string[]][] = [
    ['tgram://123456789:abc/-100', []],
    ['ntfy://user:pass@10.0.0.1:8080/topic', ['http://10.0.0.1/']],
    ['gotify://[::1]/token', ['http://[::1]/']],
    ['tgram://token/chat, matrix://u:p@db.internal', ['http://db.internal/']],
    ['gotify://localhost/token', ['http://localhost/']],
    ['ntfy://0x7f000001/topic', ['http://0x7f000001/']],
  ]
  for (const [value, targets] of hosts) t.deepEqual(apprise?.targetsOf({ value }), targets, value)
})
