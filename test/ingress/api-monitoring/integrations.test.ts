import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'

let app: HttpProduct
/** keeps to the public network, and runs commands */
let strict: HttpProduct
test.before(async () => {
  app = await openProduct({ listener: 'http', hasRowSecurity: true, workers: ['ping-evaluator', 'notifier'] })
  strict = await openProduct({
    listener: 'http',
    workers: [],
    env: { ALLOW_PRIVATE_TARGETS: 'false', SHELL_ENABLED: 'true' },
  })
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
  await strict?.[Symbol.asyncDispose]()
})

interface Body {
  id: string
  error?: string
  notification?: string
  state?: string
  [name: string]: unknown
}

const NO_BODY: Body = { id: '' }

async function aProject(target = app) {
  const owner = await addProject(target.deps)
  const headers = { 'X-Api-Key': owner.rwKey }
  return {
    ...owner,
    call: async (method: string, path: string, body?: unknown) => {
      const text = body === undefined ? {} : { body: JSON.stringify(body) }
      const answer = await send(target.url, `/api/v3/channels/${path}`, { method, headers, ...text })
      return { status: answer.status, text: answer.text, body: answer.text ? (jsonOf(answer) as Body) : NO_BODY }
    },
  }
}

test('an integration is created, shown, changed and deleted; the list keeps its three fields', async (t) => {
  const { call } = await aProject()
  const created = await call('POST', '', { kind: 'email', name: 'ops', config: { value: 'ops@example.org' } })
  t.is(created.status, 201)
  const { id, ...rest } = created.body
  const config = { value: 'ops@example.org', down: true, up: true }
  t.deepEqual(rest, { name: 'ops', kind: 'email', config, disabled: false, last_notify: null, last_error: '' })
  t.deepEqual((await call('GET', '')).body, { channels: [{ id, name: 'ops', kind: 'email' }] } as never)
  const changed = await call('POST', id, {
    name: 'all',
    disabled: true,
    config: { value: 'all@example.org', up: false },
  })
  t.like(changed.body, { name: 'all', disabled: true, config: { value: 'all@example.org', down: true, up: false } })
  t.deepEqual((await call('GET', id)).body, changed.body)
  t.is((await call('DELETE', id)).status, 200)
  t.is((await call('GET', id)).status, 404)
})

test('commands are stored only if the operator enabled them', async (t) => {
  const wanted = { kind: 'shell', name: 'page', config: { cmd_down: 'true' } }
  const refused = await (await aProject()).call('POST', '', wanted)
  t.is(refused.status, 400)
  t.is(refused.body.error, 'kind is not enabled by the operator of this service')
  t.is((await (await aProject(strict)).call('POST', '', wanted)).status, 201)
})

test('a secret is never shown, and is kept by a change without it', async (t) => {
  const { call, project } = await aProject()
  const config = { url: 'http://hooks.example/x', headers_down: { Authorization: 'token-of-ours' } }
  const { body } = await call('POST', '', { kind: 'webhook', config })
  for (const answer of [await call('GET', body.id), await call('GET', '')])
    t.false(answer.text.includes('token-of-ours'))
  const { rows } = await app.deps.db.raw('SELECT sealed_config FROM integrations WHERE project_id = ?', [project.id])
  t.false(rows[0].sealed_config.includes('token-of-ours'))
  await call('POST', body.id, { config: { url: 'http://hooks.example/y' } })
  const stored = await app.deps.db.raw('SELECT sealed_config FROM integrations WHERE project_id = ?', [project.id])
  const opened = app.deps.secrets.open('integration', stored.rows[0].sealed_config)
  t.true(opened.includes('token-of-ours') && opened.includes('hooks.example/y'))
})

/** Each with a stored secret, and the same service at another address. */
const moves = [
  ['gotify', { url: 'http://a.example', token: 'S' }, { url: 'http://b.example' }, 'token'],
  ['ntfy', { url: 'http://a.example', topic: 't', token: 'S' }, { url: 'http://b.example', topic: 't' }, 'token'],
  ['github', { repo: 'a/b', token: 'S' }, { repo: 'a/b', base_url: 'http://b.example' }, 'token'],
  ['telegram', { token: 'S', id: 1 }, { id: 1, base_url: 'http://b.example' }, 'token'],
  [
    'matrix',
    { homeserver: 'http://a.example', access_token: 'S', room_id: '!r' },
    { homeserver: 'http://b.example', room_id: '!r' },
    'access_token',
  ],
  [
    'zulip',
    { site: 'http://a.example', bot_email: 'b@a.example', api_key: 'S', to: 'ops' },
    { site: 'http://a.example:8080', bot_email: 'b@a.example', to: 'ops' },
    'api_key',
  ],
  [
    'webhook',
    { url_down: 'http://a.example/', headers_down: { a: 'S' }, url_up: 'http://b.example/' },
    { url_down: 'http://b.example/', url_up: 'http://b.example/' },
    'headers_down',
  ],
] as const
for (const [kind, config, moved, secret] of moves) {
  test(`the secret of ${kind} is not sent to another address unless it is given again`, async (t) => {
    const { call, rwKey } = await aProject()
    const { body } = await call('POST', '', { kind, config })
    const refused = await call('POST', body.id, { config: moved })
    t.is(refused.status, 400)
    t.true(String(refused.body.error).startsWith(`config.${secret} must be sent again`))
    const document = { version: 1, channels: [{ id: body.id, kind, name: '', config: moved }] }
    const imported = await send(app.url, '/api/v3/import?apply=1', {
      method: 'POST',
      headers: { 'X-Api-Key': rwKey },
      body: JSON.stringify(document),
    })
    t.is(imported.status, 400)
    t.regex(imported.text, /channels\[0\]: config\.\w+ must be sent again/)
    t.is((await call('POST', body.id, { config: { ...moved, [secret]: kind === 'webhook' ? {} : 'T' } })).status, 200)
  })
}

for (const [what, body, error] of [
  ['an unknown kind', { kind: 'pigeon', config: {} }, /^kind/],
  ['no kind', { config: {} }, /^kind/],
  ['no configuration', { kind: 'email' }, /^config/],
  ['an unknown option', { kind: 'email', config: { value: 'a@example.org', colour: 'red' } }, /^config/],
  ['two recipients in one', { kind: 'email', config: { value: 'a@example.org,b@example.org' } }, /^config\.value/],
  ['a name that is too long', { kind: 'email', name: 'x'.repeat(101), config: { value: 'a@example.org' } }, /^name/],
  ['a name of two lines', { kind: 'email', name: 'a\nb', config: { value: 'a@example.org' } }, /^name/],
  [
    'a header with a line feed',
    { kind: 'webhook', config: { url: 'http://a.example', headers_up: { a: 'b\r\nc: d' } } },
    /^config/,
  ],
] as const) {
  test(`${what} is refused with the field's name`, async (t) => {
    const { call } = await aProject()
    const answer = await call('POST', '', body)
    t.is(answer.status, 400)
    t.regex(String(answer.body.error), error)
  })
}

for (const url of [
  'http://127.0.0.1/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://0x7f.1/',
  'http://2130706433/',
  'http://10.1.2.3/',
  'http://169.254.169.254/latest',
  'http://localhost/',
  'ftp://example.org/',
  'http://user:pass@example.org/',
  'http://example.org:22/',
]) {
  test(`${url} is no address for a webhook of an installation that keeps to the public network`, async (t) => {
    const { call } = await aProject(strict)
    const answer = await call('POST', '', { kind: 'webhook', config: { url } })
    t.is(answer.status, 400)
    t.false(/127\.0\.0\.1:\d/.test(answer.text))
  })
}

test('a test message is sent, and its outcome is in the log of the integration', async (t) => {
  await using sink = await openHttpSink()
  const { call } = await aProject()
  const { body } = await call('POST', '', { kind: 'webhook', config: { url_down: `${sink.url}/hook?s=$STATUS` } })
  const sent = await call('POST', `${body.id}/test`)
  t.is(sent.status, 202)
  const request = await sink.waitFor(1)
  t.true(request.url.startsWith('/hook?s=down'))
  const log = await eventually('the outcome', async () => {
    const answer = (await call('GET', `${body.id}/notifications`)).body as unknown as { notifications: Body[] }
    return answer.notifications[0]?.state === 'delivered' ? answer.notifications : null
  })
  t.is(log.length, 1)
  t.like(log[0], { id: String(sent.body.notification), check: null, check_status: 'down', error: '', attempts: 1 })
})

test('a change by a key is in the audit log, a read and a refused change are not', async (t) => {
  const { call, project } = await aProject()
  const made = await call('POST', '', { kind: 'webhook', name: 'Hook', config: { url: 'http://hooks.example/x' } })
  await call('GET', made.body.id)
  await call('POST', '', { kind: 'pigeon', config: {} })
  await call('DELETE', made.body.id)
  const entries = await eventually('the entries', async () => {
    const rows = await app.deps.db('audit_log').where({ organisation_id: project.organisationId }).orderBy('id')
    return rows.length >= 2 ? rows : null
  })
  t.deepEqual(
    entries.map(({ action, target }) => `${action} ${target}`),
    ['integration.created Hook (Webhook)', 'integration.deleted Hook'],
  )
  t.regex(entries[0].actor, /^API key \d+ \([\w-]+…\) of tests$/)
})
