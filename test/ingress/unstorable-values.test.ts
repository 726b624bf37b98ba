import { Writable } from 'node:stream'
import test from 'ava'
import { pino } from 'pino'
import { CLIENT_SCOPES, FAMILIES } from '#shared/tenancy/oauth/families.ts'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { type CreatedClient, createClient } from '../../ingress/admin/create-client.ts'
import { requestToken } from '../support/platform-client.ts'
import { type HttpProduct, openProduct } from '../support/product.ts'
import { addProject, type TestProject } from '../support/projects.ts'
import { send } from '../support/send.ts'
import { createTeam, join, type Team } from './web/people.ts'
import { createVisitor, type Visitor } from './web/visitor.ts'

let app: HttpProduct
let own: TestProject
let credentials: CreatedClient
let authorization: string
let team: Team
let owner: Visitor
const lines: { level: number; msg: string }[] = []

test.before(async () => {
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().trim().split('\n')) lines.push(JSON.parse(line))
      done()
    },
  })
  app = await openProduct({ listener: 'http', workers: [], override: { log: pino({ level: 'warn' }, sink) } })
  const { db, secrets } = app.deps
  own = await addProject(app.deps)
  const order = {
    name: 'Acme',
    env: 'SANDBOX',
    families: FAMILIES,
    scopes: CLIENT_SCOPES,
    hasApiKey: true,
    hasLmsSecret: true,
  } as const
  credentials = await createClient(db, secrets, order)
  const { clientId: client_id, clientSecret: client_secret } = credentials
  const grant = { grant_type: 'client_credentials', client_id, client_secret }
  authorization = `Bearer ${(await requestToken(app.url, grant)).json.access_token}`
  team = await createTeam(app, 'Team')
  await grantFamilies(db, team.organisationId, ['risk-signals'])
  owner = await join(app, team, 'owner')
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
})

/** Returns the ERROR lines of the log. A refusal is the caller's mistake and must not alert an operator. */
function errorLines(): string[] {
  return lines.filter(({ level }) => level >= 50).map(({ msg }) => msg)
}

const cursor = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')
const uuid = '6f1c9a52-3d0b-4b7e-9d57-0a4f2c8e1b33'

for (const path of [
  '/api/v3/checks/?slug=%00',
  '/api/v3/checks/?tag=a%00b',
  '/api/v3/checks/?%00=1',
  '/api/v1/checks/?slug=x%00',
]) {
  test(`GET ${path} is 400 and names the parameter`, async (t) => {
    const { status, text } = await send(app.url, path, { headers: { 'X-Api-Key': own.rwKey } })
    t.is(status, 400)
    t.regex(text, /^\{"error":".*U\+0000"\}$/)
    t.deepEqual(errorLines(), [])
  })
}

for (const [path, expected, what] of [
  ['/v1/webhooks/events?dealId=%00', 400, 'dealId'],
  ['/v1/usage?family=%00', 400, 'family'],
  ['/v1/usage?from=0000-01-01', 400, 'from'],
  ['/v1/usage?to=0000-12-31', 400, 'to'],
  [`/v1/usage?cursor=${cursor('0000-01-01', 'kyb', 'SANDBOX')}`, 400, 'cursor'],
  [`/v1/usage?cursor=${cursor('2026-01-01', 'a\0b', 'SANDBOX')}`, 400, 'cursor'],
  [`/v1/po/risk-signals/packs?cursor=${cursor(1e300, uuid)}`, 400, 'cursor'],
  [`/v1/po/risk-signals/packs?cursor=${cursor(0.5, uuid)}`, 400, 'cursor'],
  [`/v1/po/risk-signals/packs?cursor=${cursor(Number.MAX_SAFE_INTEGER, uuid)}`, 200, ''],
  [`/v1/po/risk-signals/packs?cursor=${cursor(Number.MIN_SAFE_INTEGER, uuid)}`, 200, ''],
  [`/v1/webhooks/events?cursor=${cursor('0000-01-01T00:00:00Z', uuid)}`, 400, 'cursor'],
  [`/v1/webhooks/endpoints?cursor=${cursor('0000-01-01T00:00:00Z', uuid)}`, 400, 'cursor'],
  [`/v1/colending/evidence?cursor=${cursor(1e300)}`, 400, 'cursor'],
  [`/v1/colending/evidence?cursor=${cursor(Number.MAX_SAFE_INTEGER)}`, 400, 'cursor'],
  ['/v1/colending/evidence?loanRef=%00', 400, 'loanRef'],
] as const) {
  test(`GET ${path} is ${expected}`, async (t) => {
    const { status, text } = await send(app.url, path, { headers: { authorization } })
    t.is(status, expected, text)
    if (expected === 400) t.true(text.includes(what))
    t.deepEqual(errorLines(), [])
  })
}

test('a receivable, a pack and an endpoint that are called U+0000 are not there', async (t) => {
  const key = { 'x-api-key': credentials.apiKey ?? '' }
  t.is((await send(app.url, '/v1/securitisation/receivables/%00', { headers: key })).status, 404)
  t.is((await send(app.url, '/v1/securitisation/receivables/INV%00', { headers: key })).status, 404)
  t.is((await send(app.url, '/v1/po/risk-signals/packs/%00', { headers: { authorization } })).status, 404)
  t.deepEqual(errorLines(), [])
})

for (const form of [
  'client_id=%00&client_secret=x',
  'client_id=x&client_secret=%00',
  'client_id=x%00y&client_secret=x',
])
  test(`the token endpoint refuses ${form}`, async (t) => {
    const { status, text } = await send(app.url, '/v1/oauth/token', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `grant_type=client_credentials&${form}`,
    })
    t.is(status, 400, text)
    t.regex(text, /client_(id|secret) must not contain/)
    t.deepEqual(errorLines(), [])
  })

test('the token endpoint refuses U+0000 in HTTP Basic', async (t) => {
  const { status } = await send(app.url, '/v1/oauth/token', {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from('a%00b:secret').toString('base64')}`,
    },
    body: 'grant_type=client_credentials',
  })
  t.is(status, 401)
  t.deepEqual(errorLines(), [])
})

const bad = 'bad\0value'
for (const [path, page, fields] of [
  ['/account/name', '/account', { name: bad }],
  ['/projects', '/projects', { name: bad }],
  ['/projects/{project}/settings/name', '/projects/{project}/settings', { name: bad }],
  ['/projects/{project}/status-page', '/projects/{project}/settings', { title: bad }],
  ['/projects/{project}/checks', '/projects/{project}/checks/new', { name: bad, kind: 'simple' }],
] as const) {
  test(`the form ${path} refuses U+0000`, async (t) => {
    const at = (text: string) => text.replace('{project}', team.project.uuid)
    const _csrf = await owner.token(at(page))
    t.not(_csrf, '')
    const { status, text } = await owner.send(at(path), { _csrf, ...fields })
    t.is(status, 400)
    t.true(text.includes('must not contain U+0000'))
    t.deepEqual(errorLines(), [])
  })
}

test('signing in with U+0000 is refused', async (t) => {
  for (const fields of [
    { email: 'a\0@example.com', password: 'x' },
    { email: 'a@example.com', password: 'x\0' },
  ])
    t.is((await createVisitor(app.url).post('/sign-in', fields)).status, 400)
  t.deepEqual(errorLines(), [])
})

test('pages refuse U+0000 in addresses, and malformed cursors', async (t) => {
  const base = `/organisations/${team.organisationUuid}/risk/sandbox/packs`
  t.is((await owner.get(`/projects/${team.project.uuid}/checks?tag=%00`)).status, 400)
  t.is((await owner.get(`${base}?cursor=${cursor(1e300, uuid)}`)).status, 400)
  t.is((await owner.get(`${base}?cursor=%00`)).status, 400)
  t.is((await owner.get('/projects/%00/checks')).status, 404)
  t.is((await owner.get('/checks/%00')).status, 404)
  t.is((await createVisitor(app.url).get('/status/%00')).status, 404)
  t.deepEqual(errorLines(), [])
})

test('a value that only the database refuses is the caller’s mistake too', async (t) => {
  const range = Object.assign(new Error('timestamp out of range'), { code: '22008' })
  const fail = async () => {
    throw range
  }
  const badges = { secret: Buffer.alloc(32), tagCounts: fail, ofCheck: fail }
  await using strict = await openProduct({ listener: 'http', workers: [], override: { badges } })
  const { project } = await addProject(strict.deps)
  await strict.deps.db.raw('INSERT INTO checks (project_id, badge_key) VALUES (?, ?)', [project.id, project.badgeKey])
  const answer = await send(strict.url, `/b/2/${project.badgeKey}.svg`)
  t.is(answer.status, 400)
  t.is(answer.text, '{"error":"a value of the request is outside the range that can be stored"}')
})
