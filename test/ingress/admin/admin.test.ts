import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { query } from '#shared/platform/database/sql.ts'
import type { AdminContext } from '../../../ingress/admin/command.ts'
import { commands } from '../../../ingress/admin/registry.ts'
import { runAdmin } from '../../../ingress/admin/run.ts'
import { adminJsonOf } from '../../support/admin.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { newKeyPair } from '../../support/test-wallet.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const context = async (): Promise<AdminContext & AsyncDisposable> => ({
  config: app.deps.config,
  db: app.deps.db,
  secrets: app.deps.secrets,
  log: app.deps.log,
  actor: 'tester',
  [Symbol.asyncDispose]: async () => {},
})

const admin = (...args: string[]) => runAdmin(args, commands, context)

const json = <T>(...args: string[]) => adminJsonOf(app.deps)<T>(...args)

interface CreatedProject {
  projectId: string
  name: string
  apiKey: string
  apiKeyReadonly: string
  pingKey: string
}

test('a project is created with keys that work, and printed exactly as scripts expect', async (t) => {
  const created = await json<CreatedProject>('project', 'create', '--name', 'N')
  t.deepEqual(Object.keys(created), ['projectId', 'name', 'apiKey', 'apiKeyReadonly', 'pingKey', 'organisation'])
  t.regex(created.apiKey, /^hcw_[A-Za-z0-9]{28}$/)
  t.regex(created.apiKeyReadonly, /^hcr_[A-Za-z0-9]{28}$/)
  t.regex(created.pingKey, /^[a-z0-9]{22}$/)
  const list = (key: string) => send(app.url, '/api/v3/checks/', { headers: { 'X-Api-Key': key } })
  t.is((await list(created.apiKey)).status, 200)
  t.is((await list(created.apiKeyReadonly)).status, 200)
  t.is((await send(app.url, `/ping/${created.pingKey}/job?create=1`)).status, 201)
  const projects = await json<{ projectId: string }[]>('project', 'list')
  t.true(projects.some(({ projectId }) => projectId === created.projectId))
})

test('creating an integration with an invalid field names the field', async (t) => {
  const { projectId } = await json<CreatedProject>('project', 'create', '--name', 'C')
  const args = ['integration', 'create', '--project', projectId, '--name', 'ops', '--config']
  const created = await json<object>(...args, '{"value":"+15550100"}', '--kind', 'sms')
  t.deepEqual(Object.keys(created), ['integrationId', 'name', 'kind', 'checks'])
  t.like(created, { name: 'ops', kind: 'sms' })
  t.like(await json<object>(...args, '{"value":"a@example.org"}', '--kind', 'e-mail'), { kind: 'email' })
  for (const [config, kind, error] of [
    ['{}', 'email', /config\.value/],
    ['not json', 'email', /--config is not a JSON object/],
    ['{}', 'pigeon', /there is no kind pigeon; there are .*\bemail\b.*\bwebhook\b/],
  ] as const) {
    const { status, stderr } = await admin(...args, config, '--kind', kind)
    t.not(status, 0)
    t.regex(stderr, error)
  }
})

test('an integration is created for all checks or for some, and prints their number', async (t) => {
  const { projectId, pingKey } = await json<CreatedProject>('project', 'create', '--name', 'U')
  for (const slug of ['one', 'two']) await send(app.url, `/ping/${pingKey}/${slug}?create=1`)
  const checks = await query<{ uuid: string }>(
    app.deps.db,
    'SELECT c.uuid FROM checks c JOIN projects p ON p.id = c.project_id WHERE p.uuid = ? ORDER BY c.id',
    [projectId],
  )
  const [first = '', second = ''] = checks.map(({ uuid }) => uuid)
  const own = ['--project', projectId, '--kind', 'email', '--name', 'ops', '--config', '{"value":"a@example.org"}']
  const unused = await admin('integration', 'create', ...own)
  t.regex(unused.stdout, /^used by 0 checks\n.*integration update --all-checks/m)
  t.like(await json<object>('integration', 'create', ...own, '--all-checks'), { checks: 2 })
  t.like(await json<object>('integration', 'create', ...own, '--check', first), { checks: 1 })
  const both = `${first}, ${second.toUpperCase()}`
  t.like(await json<object>('integration', 'create', ...own, '--check', both), { checks: 2 })
  const [, integrationId = ''] = /integrationId +(\S+)/.exec(unused.stdout) ?? []
  const update = ['integration', 'update', '--project', projectId, '--integration', integrationId]
  t.regex((await admin(...update, '--check', second)).stdout, /used by 1 check$/m)
  t.regex((await admin(...update, '--all-checks')).stdout, /used by 2 checks$/m)
  const unknown = randomUUID()
  for (const [args, error] of [
    [['--check', unknown], new RegExp(`the project has no check ${unknown}`)],
    [['--check', 'one'], /--check takes ids of checks, not "one"/],
    [['--check', first, '--all-checks'], /either --all-checks or --check/],
  ] as const) {
    t.regex((await admin('integration', 'create', ...own, ...args)).stderr, error)
  }
  t.is((await json<object[]>('integration', 'list', '--project', projectId)).length, 4)
})

test('integrations can be listed, partly changed and deleted', async (t) => {
  const { projectId } = await json<CreatedProject>('project', 'create', '--name', 'L')
  const own = ['--project', projectId]
  const config = '{"url":"https://ntfy.example.org","topic":"jobs","token":"tk_secret","priority":3,"priority_up":3}'
  const args = ['integration', 'create', ...own, '--kind', 'ntfy', '--name', 'old', '--config', config]
  const { integrationId } = await json<{ integrationId: string }>(...args)
  const list = async () => await json<{ integrationId: string; name: string }[]>('integration', 'list', ...own)
  t.like(await list(), [{ integrationId, name: 'old', kind: 'ntfy', disabled: false }])
  const update = ['integration', 'update', ...own, '--integration', integrationId]
  await json(...update, '--name', 'new', '--disable')
  t.like(await list(), [{ name: 'new', disabled: true }])
  await json(...update, '--enable', '--config', config.replace(',"token":"tk_secret"', '').replace('jobs', 'others'))
  t.like(await list(), [{ name: 'new', disabled: false }])
  const [stored] = await query<{ sealed: string }>(
    app.deps.db,
    'SELECT sealed_config AS sealed FROM integrations WHERE uuid = ?',
    [integrationId],
  )
  t.like(JSON.parse(app.deps.secrets.open('integration', stored?.sealed ?? '')), {
    topic: 'others',
    token: 'tk_secret',
  })
  for (const [wrong, error] of [
    [update, /nothing to change; the options are --name, --config, --disable, --enable/],
    [['integration', 'delete', ...own, '--integration', randomUUID()], /the project has no integration/],
    [['integration', 'delete', ...own, '--integration', 'x'], /the project has no integration/],
    [[...update, '--config', '[]'], /not a JSON object/],
  ] as const) {
    const { status, stderr } = await admin(...wrong)
    t.is(status, 2)
    t.regex(stderr, error)
  }
  await json('integration', 'delete', ...own, '--integration', integrationId)
  t.deepEqual(await list(), [])
})

test('a user made without an organisation owns only a new one, even with an existing name', async (t) => {
  const [other, email] = ['Unowned', `${randomUUID()}@example.org`]
  for (const name of [other, email]) await json('project', 'create', '--name', name, '--organisation', name)
  const made = await json<{ userId: string }>('user', 'create', '--email', email, '--password', 'a long passphrase 17')
  const owned = await query<{ projects: number }>(
    app.deps.db,
    `SELECT (SELECT count(*) FROM projects p WHERE p.organisation_id = m.organisation_id) AS projects
     FROM memberships m JOIN users u ON u.id = m.user_id WHERE u.uuid = ?`,
    [made.userId],
  )
  t.deepEqual(owned, [{ projects: 0 }])
  const colleague = ['--email', `${randomUUID()}@example.org`, '--password', 'a long passphrase 17']
  t.like(await json<object>('user', 'create', ...colleague, '--organisation', other), { organisation: other })
})

test('an export contains secrets only on request, and can be imported', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-test-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const { projectId, apiKey } = await json<CreatedProject>('project', 'create', '--name', 'E')
  const config = JSON.stringify({ url: 'http://hooks.example/', headers_up: { a: 'token-of-ours' } })
  await json('integration', 'create', '--project', projectId, '--kind', 'webhook', '--name', 'h', '--config', config)
  t.false((await admin('export', '--project', projectId)).stdout.includes('token-of-ours'))
  const full = await admin('export', '--project', projectId, '--with-secrets', '--json')
  t.true(full.stdout.includes('token-of-ours'))
  const file = join(folder, 'project.json')
  const document = { ...JSON.parse(full.stdout), checks: [{ uuid: randomUUID(), name: 'new' }] }
  await writeFile(file, JSON.stringify(document))
  const list = async () => {
    const answer = await send(app.url, '/api/v3/checks/', { headers: { 'X-Api-Key': apiKey } })
    return (jsonOf(answer) as { checks: unknown[] }).checks.length
  }
  const planned = await admin('import', '--project', projectId, '--file', file)
  t.regex(planned.stdout, /checks: 1 new, 0 changed, 0 the same/)
  t.is(await list(), 0)
  await json('import', '--project', projectId, '--file', file, '--apply')
  t.is(await list(), 1)
  t.regex(
    (await admin('import', '--project', projectId, '--file', file)).stdout,
    /checks: 0 new, 0 changed, 1 the same/,
  )
})

test.serial('dead letters are listed with their reason and replayed once, which is audited', async (t) => {
  const { projectId: _, ...project } = await json<CreatedProject>('project', 'create', '--name', 'D')
  await send(app.url, `/ping/${project.pingKey}/given-up?create=1`)
  const rows = await query<{ id: number; nPings: number }>(
    app.deps.db,
    `SELECT id, n_pings AS "nPings" FROM checks WHERE slug = 'given-up' ORDER BY id DESC LIMIT 1`,
  )
  const [check] = rows
  if (!check) return t.fail()
  const shard = check.id % app.deps.config.pingShards
  const stream = await eventually('the stream of the first ping', async () => {
    const found = await query<{ stream: string; seq: number }>(
      app.deps.db,
      'SELECT stream, last_seq AS seq FROM ping_streams WHERE shard = ?',
      [shard],
    )
    return found[0]
  })
  // A batch that carries a number which its stream has passed: the evaluator would drop it as a copy.
  const ping = [check.id, 'success', null, app.deps.now(), 'http', '127.0.0.1', 'GET', 'late', null, null]
  const body = JSON.stringify({ v: 1, stream: stream.stream, seq: stream.seq, pings: [ping] })
  const dead = (messageId: string, text: string) =>
    app.deps.broker.publish({
      exchange: '',
      routingKey: `pings.${shard}.dead`,
      body: Buffer.from(text),
      messageId,
      type: 'pings',
      headers: { 'x-signalbox-reason': 'handler-failed', 'x-signalbox-failures': 3 },
    })
  await dead('good', body)
  await dead('bad', 'nonsense')
  const queue = `pings.${shard}`
  const listed = await json<{ queue: string; messages: number }[]>('dead-letters', 'list')
  t.is(listed.find((it) => it.queue === queue)?.messages, 2)
  const seen = await json<object[]>('dead-letters', 'inspect', '--queue', queue)
  t.like(seen[0], { messageId: 'good', reason: 'handler-failed', failures: 3 })
  t.false(JSON.stringify(seen).includes('nonsense'))

  t.deepEqual(await json('dead-letters', 'replay', '--queue', queue, '--message', 'good'), [
    { messageId: 'good', result: 'replayed' },
  ])
  await app.deps.barrier.pass([check.id])
  const [after] = await query<{ n: number }>(app.deps.db, 'SELECT n_pings AS n FROM checks WHERE id = ?', [check.id])
  t.is(after?.n, 2)

  const refused = await admin('dead-letters', 'replay', '--queue', queue, '--all', '--json')
  t.deepEqual([refused.status, JSON.parse(refused.stdout)], [1, [{ messageId: 'bad', result: 'unreadable' }]])
  await json('dead-letters', 'discard', '--queue', queue, '--message', 'bad')
  t.deepEqual(await json('dead-letters', 'inspect', '--queue', queue), [])
  const noted = await query(
    app.deps.db,
    'SELECT queue, message_id AS id, action, actor FROM dead_letter_actions ORDER BY dead_letter_actions.id',
  )
  t.deepEqual(noted, [
    { queue, id: 'good', action: 'replay', actor: 'tester' },
    { queue, id: 'bad', action: 'discard', actor: 'tester' },
  ])
})

test('doctor finds no problem here, and reports how to repair problems elsewhere', async (t) => {
  const output: { findings: { what: string; ok: boolean }[] } = JSON.parse((await admin('doctor', '--json')).stdout)
  t.true(output.findings.some(({ what }) => what === 'schema'))
  const wrong = output.findings.filter(({ ok }) => !ok).map(({ what }) => what)
  t.deepEqual(wrong, ['consumers'], 'only the evaluator runs here')
  const unreachable = async () => ({
    ...(await context()),
    config: { ...app.deps.config, amqpUrl: 'amqp://127.0.0.1:1', smtpUrl: 'smtp://127.0.0.1:1' },
  })
  const { status, stdout } = await runAdmin(['doctor'], commands, unreachable)
  t.is(status, 1)
  t.regex(stdout, /WRONG\s+broker: cannot be reached \(ECONNREFUSED\): check AMQP_URL/)
  t.regex(stdout, /WRONG\s+mail server: cannot be reached \(ECONNREFUSED\): check SMTP_URL/)
})

for (const [what, args, expected] of [
  ['an unknown command', ['frobnicate'], /there are .*project.*key.*integration/],
  ['an unknown verb', ['project', 'frobnicate'], /there are project create, project list/],
  ['an unknown option', ['project', 'list', '--colour', 'red'], /'--colour'; the options are --json$/],
  ['a word too many', ['project', 'list', 'all'], /'all'/],
  ['a missing option', ['project', 'create'], /--name is missing/],
  ['a project that does not exist', ['export', '--project', randomUUID()], /there is no project/],
  ['a project that is no uuid', ['export', '--project', "x' OR 1=1"], /there is no project/],
  ['a queue that does not exist', ['dead-letters', 'inspect', '--queue', 'nope'], /there are .*pings\.0/],
] as const) {
  test(`${what} is a usage error in one line without a stack`, async (t) => {
    const { status, stdout, stderr } = await admin(...args)
    t.deepEqual([status, stdout], [2, ''])
    t.is(stderr.trim().split('\n').length, 1)
    t.regex(stderr.trim(), expected)
  })
}

test('an issuer of credentials is trusted from a file for every organisation, listed and removed; a bad file is named', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-test-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = join(folder, 'issuer.json')
  const add = ['issuer', 'add', '--env', 'SANDBOX', '--file', file]
  for (const text of [null, '{"iss": ', '{"iss": 7}']) {
    if (text !== null) await writeFile(file, text)
    const { status, stderr } = await admin(...add)
    t.is(status, 2)
    t.true(stderr.startsWith(file), stderr)
  }
  const { publicJwk } = await newKeyPair()
  const iss = 'https://registry.example'
  await writeFile(file, JSON.stringify({ iss, vctValues: ['https://registry.example/v'], jwks: { keys: [publicJwk] } }))
  const { id } = await json<{ id: string }>(...add)
  const listed = await json<{ id: string; iss: string }[]>('issuer', 'list', '--env', 'SANDBOX')
  t.like(
    listed.find((each) => each.id === id),
    { iss },
  )
  t.deepEqual(await json('issuer', 'remove', '--env', 'SANDBOX', '--id', id), { removed: id })
  const again = await admin('issuer', 'remove', '--env', 'SANDBOX', '--id', id)
  t.is(again.status, 2)
})
