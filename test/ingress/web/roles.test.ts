import test from 'ava'
import type { Role } from '#shared/tenancy/accounts/roles.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addCheck, createTeam, emailOf, join, type Team } from './people.ts'
import { createVisitor, type Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let strangers: Team
const people: Partial<Record<Role, Visitor>> = {}
let stranger: Visitor
let check: string

test.before(async () => {
  app = await sharedProduct()
  team = await createTeam(app, 'Acme')
  strangers = await createTeam(app, 'Other')
  for (const role of ['owner', 'manager', 'member', 'read-only'] as const) people[role] = await join(app, team, role)
  stranger = await join(app, strangers, 'owner')
  if (people.owner) check = await addCheck(people.owner, team)
})

function person(role: Role): Visitor {
  const found = people[role]
  if (!found) throw new Error(`no user has the role ${role}`)
  return found
}

async function uuidOf(email: string): Promise<string> {
  const user = await app.deps.db('users').where({ email }).first('uuid')
  return String(user?.uuid)
}

interface Attempt {
  what: string
  path: () => Promise<string> | string
  fields?: Record<string, string>
  /** refused roles; higher roles are allowed */
  refused: readonly Role[]
}

const project = () => `/projects/${team.project.uuid}`
const organisation = () => `/organisations/${team.organisationUuid}`
const attempts: readonly Attempt[] = [
  { what: 'create a check', path: () => `${project()}/checks`, refused: ['read-only'] },
  { what: 'pause a check', path: () => `/checks/${check}/pause`, refused: ['read-only'] },
  { what: 'delete a check', path: () => `/checks/${check}/delete`, refused: ['read-only'] },
  { what: 'copy a check', path: () => `/checks/${check}/copy`, refused: ['read-only'] },
  {
    what: 'transfer a check',
    path: () => `/checks/${check}/transfer`,
    fields: { project: '' },
    refused: ['read-only', 'member'],
  },
  { what: 'create a key', path: () => `${project()}/keys`, fields: { kind: 'rw' }, refused: ['read-only', 'member'] },
  { what: 'rotate a key', path: () => `${project()}/keys/1/rotate`, refused: ['read-only', 'member'] },
  { what: 'publish a status page', path: () => `${project()}/status-page`, refused: ['read-only', 'member'] },
  { what: 'import checks', path: () => `${project()}/import`, refused: ['read-only', 'member'] },
  { what: 'create a project', path: () => '/projects', refused: ['read-only', 'member'] },
  {
    what: 'invite a user',
    path: () => `${organisation()}/invitations`,
    fields: { email: 'x@example.com', role: 'member' },
    refused: ['read-only', 'member'],
  },
  {
    what: 'invite an owner',
    path: () => `${organisation()}/invitations`,
    fields: { email: 'x@example.com', role: 'owner' },
    refused: ['read-only', 'member', 'manager'],
  },
  {
    what: 'remove the owner',
    path: async () => `${organisation()}/members/${await uuidOf(emailOf(team, 'owner'))}/remove`,
    refused: ['read-only', 'member', 'manager'],
  },
  {
    what: 'become an owner',
    path: async () => `${organisation()}/members/${await uuidOf(emailOf(team, 'manager'))}/role`,
    fields: { role: 'owner' },
    refused: ['read-only', 'member', 'manager'],
  },
  {
    what: 'delete the project',
    path: () => `${project()}/settings/delete`,
    fields: { name: 'x' },
    refused: ['read-only', 'member', 'manager'],
  },
]

for (const attempt of attempts)
  for (const role of attempt.refused)
    test(`a ${role} may not ${attempt.what}, and the attempt is audited`, async (t) => {
      const before = await denials()
      const fields = { organisation: team.organisationUuid, ...attempt.fields }
      const answer = await person(role).post(await attempt.path(), fields, '/account')
      t.is(answer.status, 403)
      t.true((await denials()) > before)
    })

async function denials(): Promise<number> {
  const rows = await app.deps.db('audit_log').where({ action: 'request.denied', organisation_id: team.organisationId })
  return rows.length
}

const seen: readonly (() => string)[] = [
  () => `${project()}/checks`,
  () => `${project()}/events`,
  () => `${project()}/integrations`,
  () => `${project()}/settings`,
  () => `${project()}/keys`,
  () => `${project()}/status-page`,
  () => `${project()}/export`,
  () => `${project()}/badges`,
  () => `/checks/${check}`,
  () => `/checks/${check}/edit`,
  () => `/checks/${check}/pings/1`,
  () => `/checks/${check}/events`,
  () => `${organisation()}/members`,
  () => `${organisation()}/audit`,
]
for (const [index, path] of seen.entries())
  test(`a stranger gets 404 at address ${index + 1} of another organisation`, async (t) => {
    t.is((await stranger.get(path())).status, 404)
  })

for (const attempt of attempts.filter(({ what }) => what !== 'create a project'))
  test(`a stranger who tries to ${attempt.what} gets 404`, async (t) => {
    t.is((await stranger.post(await attempt.path(), attempt.fields ?? {}, '/account')).status, 404)
  })

test('a removed person is refused at the next request', async (t) => {
  const visitor = await join(app, team, 'member', 'leaver@example.com')
  t.is((await visitor.get(`${project()}/checks`)).status, 200)
  const path = `${organisation()}/members/${await uuidOf('leaver@example.com')}/remove`
  t.is((await person('owner').post(path, {}, '/account')).status, 303)
  t.is((await visitor.get(`${project()}/checks`)).status, 404)
})

test('a changed role applies to the next request with a new session id', async (t) => {
  const visitor = await join(app, team, 'read-only', 'climber@example.com')
  const before = visitor.cookies.get('signalbox-session')
  const path = `${organisation()}/members/${await uuidOf('climber@example.com')}/role`
  await person('owner').post(path, { role: 'member' }, '/account')
  t.is((await visitor.get(`${project()}/checks/new`)).status, 200)
  t.not(visitor.cookies.get('signalbox-session'), before)
  const stale = { cookie: `signalbox-session=${before}` }
  visitor.cookies.clear()
  t.is((await visitor.get('/account', stale)).status, 303)
})

test('the last owner cannot be removed', async (t) => {
  const lonely = await createTeam(app, 'Lonely')
  const owner = await join(app, lonely, 'owner', 'lonely@example.com')
  const second = await join(app, lonely, 'owner', 'second@example.com')
  const members = `/organisations/${lonely.organisationUuid}/members`
  await owner.post(`${members}/${await uuidOf('second@example.com')}/role`, { role: 'manager' }, '/account')
  t.is((await second.post(`${members}/${await uuidOf('lonely@example.com')}/remove`, {}, '/account')).status, 403)
  t.is((await owner.post(`${members}/${await uuidOf('lonely@example.com')}/remove`, {}, '/account')).status, 403)
})

const navigated = (html: string) => /<nav aria-label="Main"/.test(html)
const asPage = { accept: 'text/html' }

test("an error page shows the project's navigation to signed-in users", async (t) => {
  const owner = person('owner')
  const known = await owner.get(`${project()}/checks/unknown`, asPage)
  const nowhere = await owner.get('/nowhere', asPage)
  const foreign = await stranger.get(`${project()}/checks`, asPage)
  const refused = await person('read-only').get(`${project()}/settings`, asPage)
  t.deepEqual([known.status, nowhere.status, foreign.status, refused.status], [404, 404, 404, 403])
  for (const { text } of [known, nowhere, foreign, refused]) {
    t.true(navigated(text))
    t.regex(text, /<h1>[^<]+<\/h1>/)
    t.regex(text, /Back to your checks/)
    t.regex(text, /aria-label="Copy request id"/)
  }
  t.true(refused.text.includes(`href="${project()}/checks"`))
  t.false(foreign.text.includes('Acme'), 'another organisation is not named')
})

test('an error discloses no personal data to a visitor who is not signed in', async (t) => {
  const { status, text } = await createVisitor(app.url).get('/nowhere', asPage)
  t.is(status, 404)
  t.false(navigated(text))
  t.regex(text, /<a class="button primary" href="\/">Home<\/a>/)
})
