import test from 'ava'
import { insertOrganisation } from '#shared/tenancy/organisations/store.ts'
import { runAdmin } from '../../../ingress/admin/run.ts'
import { userCommands } from '../../../ingress/admin/user.ts'
import { lockTable } from '../../faults/lock-table.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { openSmtpSink, type SmtpSink } from '../../support/smtp-sink.ts'
import { createTeam, emailOf, join, password, type Team } from './people.ts'
import { createVisitor } from './visitor.ts'

let app: HttpProduct
let smtp: SmtpSink
let team: Team

test.before(async () => {
  smtp = await openSmtpSink()
  app = await openProduct({ listener: 'http', workers: ['ping-evaluator', 'mailer'], env: { SMTP_URL: smtp.url } })
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
  await smtp?.[Symbol.asyncDispose]()
})

async function admin(...args: string[]): Promise<string> {
  const { config, db, secrets, log } = app.deps
  const outcome = await runAdmin(args, userCommands, async () => ({
    config,
    db,
    secrets,
    log,
    actor: 'test',
    async [Symbol.asyncDispose]() {},
  }))
  return outcome.stdout.trim()
}

async function mailedText(to: string): Promise<string> {
  const mail = await smtp.waitFor((one) => one.to.includes(to))
  smtp.mails.splice(smtp.mails.indexOf(mail), 1)
  const text = mail.raw.toString().replaceAll('=\r\n', '')
  assertOwnLinks(text)
  return text
}

async function mailedPath(to: string): Promise<string> {
  const text = await mailedText(to)
  return new URL(/http:\S+\/(?:reset-password|invitations)\/[\w-]+/.exec(text)?.[0] ?? '').pathname
}

/** Asserts that links use the public address, never the Host header of a request. */
function assertOwnLinks(text: string): void {
  if (text.includes('evil.example')) throw new Error('a mail leads to the host that the request named')
}

test.serial('the set-up link creates the first administrator once', async (t) => {
  const older = new URL(/http\S+/.exec(await admin('setup-link'))?.[0] ?? '').pathname
  const path = new URL(/http\S+/.exec(await admin('setup-link'))?.[0] ?? '').pathname
  await insertOrganisation(app.deps.db, 'Demo')
  const visitor = createVisitor(app.url)
  t.is((await visitor.get(older)).status, 404, 'a newer link replaces the older')
  t.is((await visitor.get('/set-up/guess')).status, 404)
  const fields = { name: 'Ada', email: 'ada@example.com', password, organisation: 'Acme' }
  t.is((await visitor.post(path, { ...fields, password: 'short' }, path)).status, 400)
  const [one, two] = await Promise.all([
    visitor.post(path, fields),
    createVisitor(app.url).post(path, { ...fields, email: 'eve@example.com' }),
  ])
  t.deepEqual([one.status, two.status].toSorted(), [303, 404], 'one of two concurrent requests succeeds')
  t.deepEqual(
    await app.deps.db('organisations').pluck('name'),
    ['Acme'],
    'the organisation of the command line is renamed',
  )
  t.is((await createVisitor(app.url).get(path)).status, 404)
  const written = app.deps.db('audit_log').whereNotNull('organisation_id').orderBy('id').pluck('action')
  t.deepEqual(
    await written,
    ['installation.set-up', 'sign-in.succeeded'],
    'the audit log of the organisation contains the set-up',
  )
  t.regex(await admin('setup-link'), /^An owner has signed up/)
})

test.serial('a mailed link resets the password once and ends all sessions', async (t) => {
  team = await createTeam(app, 'Beta')
  const before = await join(app, team, 'member')
  const visitor = createVisitor(app.url)
  const token = await visitor.token('/reset-password')
  const fields = { _csrf: token, email: emailOf(team, 'member') }
  const requested = await visitor.send('/reset-password', fields, {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
  })
  t.is(requested.status, 200)
  const path = await mailedPath(emailOf(team, 'member'))
  const page = await visitor.get(path)
  t.is(page.headers['referrer-policy'], 'no-referrer')
  const chosen = { password: 'another four words here' }
  t.is((await visitor.post(path, chosen)).status, 303)
  t.is((await visitor.get('/account')).status, 200, 'the visitor is signed in')
  t.is((await before.get('/account')).status, 303, 'the earlier session has ended')
  t.is((await createVisitor(app.url).get(path)).status, 404, 'the link is used up')
})

test.serial('an unknown address gets the same response and no mail', async (t) => {
  const [known, unknown] = await Promise.all(
    [emailOf(team, 'member'), 'unknown@example.com'].map(async (email) => {
      const answer = await createVisitor(app.url).post('/reset-password', { email })
      return answer.text.replace(/name="_csrf" value="[^"]+"/g, '')
    }),
  )
  t.is(known, unknown)
  await mailedPath(emailOf(team, 'member'))
  t.false(smtp.mails.some((mail) => mail.to.includes('unknown@example.com')))
})

test.serial('a changed password invalidates earlier links', async (t) => {
  const team = await createTeam(app, 'Gamma')
  const visitor = await join(app, team, 'member', 'gamma@example.com')
  await createVisitor(app.url).post('/reset-password', { email: 'gamma@example.com' })
  const path = await mailedPath('gamma@example.com')
  const changed = { old: password, password: 'yet another four words' }
  t.is((await visitor.post('/account/password', changed, '/account')).status, 303)
  t.is((await createVisitor(app.url).get(path)).status, 404)
})

test.serial('an expired link is refused', async (t) => {
  await createVisitor(app.url).post('/reset-password', { email: 'gamma@example.com' })
  const path = await mailedPath('gamma@example.com')
  await app.deps.db.raw(`UPDATE one_time_links SET expires_at = now() - interval '1 second'`)
  t.is((await createVisitor(app.url).get(path)).status, 404)
})

test.serial('an invitation creates one account with its address and role', async (t) => {
  const team = await createTeam(app, 'Delta')
  const owner = await join(app, team, 'owner', 'delta@example.com')
  const members = `/organisations/${team.organisationUuid}/members`
  const sent = await owner.post(
    `/organisations/${team.organisationUuid}/invitations`,
    { email: 'New@Example.com', role: 'read-only' },
    members,
  )
  t.is(sent.status, 303)
  t.regex((await owner.get(members)).text, /\/invitations\/[\w-]{43}/, 'the link is shown')
  t.notRegex((await owner.get(members)).text, /\/invitations\/[\w-]{43}/, 'the link is shown once')
  const path = await mailedPath('new@example.com')
  const visitor = createVisitor(app.url)
  t.is((await visitor.post(path, { name: 'New', password, email: 'other@example.com', role: 'owner' })).status, 303)
  const page = await visitor.get(members)
  t.is(page.status, 200)
  const [row] = await app.deps.db('memberships').where({ organisation_id: team.organisationId, role: 'read-only' })
  t.truthy(row)
  t.is((await createVisitor(app.url).get(path)).status, 404)
})

test.serial('an invitation names the sender and the role, and omits a name that could mislead', async (t) => {
  const team = await createTeam(app, 'Epsilon')
  const sender = 'invites@example.com'
  const owner = await join(app, team, 'owner', sender)
  const base = `/organisations/${team.organisationUuid}`
  const invite = async (name: string, email: string) => {
    await app.deps.db('users').where({ email: sender }).update({ name })
    await owner.post(`${base}/invitations`, { email, role: 'responder' }, `${base}/members`)
    return await mailedText(email)
  }
  const named = await invite('Ada Owner', 'first@example.com')
  t.regex(named, /^Subject: Ada Owner \(invites@example\.com\) invites you to/m)
  t.regex(
    named.replace(/\s+/g, ' '),
    /"Epsilon" on Signalbox as responder: read access, incidents and on-call shifts\./,
  )
  t.regex(await invite('see evil.test', 'second@example.com'), /^Subject: invites@example\.com invites you to/m)
})

test.serial('an invitation opened by a member stays valid for its recipient', async (t) => {
  const team = await createTeam(app, 'Theta')
  const owner = await join(app, team, 'owner', 'theta@example.com')
  const base = `/organisations/${team.organisationUuid}`
  await owner.post(`${base}/invitations`, { email: 'guest@example.com', role: 'read-only' }, `${base}/members`)
  const path = await mailedPath('guest@example.com')
  const shown = (await owner.get(path)).text
  t.regex(shown, /belong to it already/)
  t.notRegex(shown, /Join with this account/)
  t.is((await owner.post(path, {}, `${base}/members`)).status, 409)
  t.is(await auditCount(team, 'invitation.accepted'), 0)
  t.is((await createVisitor(app.url).post(path, { name: 'Guest', password })).status, 303)
  t.is(await auditCount(team, 'invitation.accepted'), 1)
  const roles = await app.deps.db('memberships').where({ organisation_id: team.organisationId }).pluck('role')
  t.deepEqual(roles.toSorted(), ['owner', 'read-only'])
})

const auditCount = async ({ organisationId }: Team, action: string) =>
  (await app.deps.db('audit_log').where({ organisation_id: organisationId, action })).length

test.serial('an existing member cannot be invited again', async (t) => {
  const team = await createTeam(app, 'Iota')
  const owner = await join(app, team, 'owner', 'iota@example.com')
  await join(app, team, 'member', 'iota-member@example.com')
  const base = `/organisations/${team.organisationUuid}`
  for (const email of ['iota@example.com', 'Iota-Member@example.com']) {
    const answer = await owner.post(`${base}/invitations`, { email, role: 'read-only' }, `${base}/members`)
    t.is(answer.status, 409)
    t.true(answer.text.includes(`${email.toLowerCase()} belongs to the organisation already.`), email)
  }
  t.is(await auditCount(team, 'invitation.sent'), 0)
})

test.serial('every page refuses a common password', async (t) => {
  const team = await createTeam(app, 'Kappa')
  const owner = await join(app, team, 'owner', 'kappa@example.com')
  const base = `/organisations/${team.organisationUuid}`
  await owner.post(`${base}/invitations`, { email: 'weak@example.com', role: 'member' }, `${base}/members`)
  const invitation = await mailedPath('weak@example.com')
  await createVisitor(app.url).post('/reset-password', { email: 'kappa@example.com' })
  const reset = await mailedPath('kappa@example.com')
  const weak = 'passwordpassword'
  for (const [visitor, path, fields, page] of [
    [createVisitor(app.url), invitation, { name: 'New' }, invitation],
    [createVisitor(app.url), reset, {}, reset],
    [owner, '/account/password', { old: password }, '/account'],
  ] as const) {
    const refused = await visitor.post(path, { ...fields, password: weak }, page)
    t.is(refused.status, 400, path)
    t.regex(refused.text, /tried first|common/i, path)
    t.not((await visitor.get('/account')).status, visitor === owner ? 303 : 200, 'no session starts or ends')
  }
})

test.serial('a withdrawn invitation is refused', async (t) => {
  const team = await createTeam(app, 'Epsilon')
  const owner = await join(app, team, 'owner', 'epsilon@example.com')
  const base = `/organisations/${team.organisationUuid}`
  await owner.post(`${base}/invitations`, { email: 'late@example.com', role: 'member' }, `${base}/members`)
  const path = await mailedPath('late@example.com')
  const [link] = await app.deps.db('one_time_links').where({ email: 'late@example.com' }).select('id')
  await owner.post(`${base}/invitations/${link?.id}/withdraw`, {}, `${base}/members`)
  t.is((await createVisitor(app.url).get(path)).status, 404)
})

test.serial('only the mailed invitation link verifies the address, not the shown one', async (t) => {
  const team = await createTeam(app, 'Your bank: verify now')
  const owner = await join(app, team, 'owner', 'm9@example.com')
  await app.deps.db('users').where({ email: 'm9@example.com' }).update({ name: 'https://evil.test/login' })
  const base = `/organisations/${team.organisationUuid}`
  const invite = async (email: string) => {
    await owner.post(`${base}/invitations`, { email, role: 'member' }, `${base}/members`)
    const { text } = await owner.get(`${base}/members`)
    return new URL(/http:\S+\/invitations\/[\w-]{43}/.exec(text)?.[0] ?? '').pathname
  }
  const isVerified = async (email: string) =>
    (await app.deps.db('users').where({ email }).first('email_verified'))?.email_verified
  const shown = await invite('claimed@m9.example')
  const mail = await smtp.waitFor((one) => one.to.includes('claimed@m9.example'))
  t.false(/bank|evil/i.test(mail.raw.toString().replaceAll('=\r\n', '')), 'the mail omits names, which are free text')
  t.not(await mailedPath('claimed@m9.example'), shown)
  const claimer = createVisitor(app.url)
  t.is((await claimer.post(shown, { password })).status, 303)
  t.false(await isVerified('claimed@m9.example'))
  await invite('real@m9.example')
  t.is((await createVisitor(app.url).post(await mailedPath('real@m9.example'), { password })).status, 303)
  t.true(await isVerified('real@m9.example'))
  await createVisitor(app.url).post('/reset-password', { email: 'claimed@m9.example' })
  const reset = await mailedPath('claimed@m9.example')
  t.is((await createVisitor(app.url).post(reset, { password: 'four other words here' })).status, 303)
  t.true(await isVerified('claimed@m9.example'))
  t.is((await claimer.get('/account')).status, 303, 'the reset ends the session of the person without the mailbox')
})

test.serial('a person can send at most 20 invitations in a row', async (t) => {
  const team = await createTeam(app, 'Zeta')
  const owner = await join(app, team, 'owner', 'zeta@example.com')
  const base = `/organisations/${team.organisationUuid}`
  const _csrf = await owner.token(`${base}/members`)
  const statuses: number[] = []
  for (let n = 0; n < 21; n++) {
    const fields = { _csrf, email: `invited${n}@example.com`, role: 'member' }
    statuses.push((await owner.send(`${base}/invitations`, fields)).status)
  }
  t.deepEqual([...new Set(statuses.slice(0, 20))], [303])
  t.is(statuses[20], 429)
})

test.serial('the response to a reset request does not wait for the work of a known address', async (t) => {
  const team = await createTeam(app, 'Eta')
  await join(app, team, 'member', 'eta@example.com')
  const visitor = createVisitor(app.url)
  const _csrf = await visitor.token('/reset-password')
  await using lock = await lockTable(app.deps.db, 'one_time_links')
  t.is((await visitor.send('/reset-password', { _csrf, email: 'eta@example.com' })).status, 200)
  await lock.release()
  await mailedPath('eta@example.com')
})
