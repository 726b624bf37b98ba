import test from 'ava'
import { Secret, TOTP } from 'otpauth'
import { addPasskey } from '#shared/tenancy/operations/second-factor.ts'
import { nowMicros } from '#shared/time.ts'
import { runAdmin } from '../../../ingress/admin/run.ts'
import { userCommands } from '../../../ingress/admin/user.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { createTeam, join, password, signedIn, type Team } from './people.ts'
import { createVisitor, type Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
const page = '/account/second-factor'

test.before(async () => {
  // Mails are stored, because no mailer runs. All tests use one time step of 30 s: a code is also valid in the steps
  // before and after its own.
  const moment = nowMicros()
  app = await openProduct({
    listener: 'http',
    override: { now: () => moment },
    env: { SMTP_URL: 'smtp://127.0.0.1:9' },
  })
  team = await createTeam(app, 'Acme')
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
})

/** Returns the code of a time step, relative to the current one. */
function codeOf(secret: string, steps = 0): string {
  const now = Math.floor(app.deps.now() / 1000)
  return TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: now + steps * 30_000 })
}

/** Adds a member with an authenticator app. @returns its secret, and the recovery codes that were shown */
async function withApp(email: string): Promise<{ visitor: Visitor; secret: string; codes: string[] }> {
  const visitor = await join(app, team, 'member', email)
  await visitor.post(page, { password })
  mustBe((await visitor.post(`${page}/totp`, {}, page)).status === 303)
  const secret = /data-copy="([A-Z2-7]{32})"/.exec((await visitor.get(`${page}/totp`)).text)?.[1] ?? ''
  await visitor.post(`${page}/totp/confirm`, { code: codeOf(secret, -1) }, `${page}/totp`)
  const shown = /aria-label="your ten codes"><code>([^<]+)</.exec((await visitor.get(page)).text)?.[1] ?? ''
  return { visitor, secret, codes: shown.split('\n') }
}

function mustBe(isRight: boolean): void {
  if (!isRight) throw new Error('it could not be set up')
}

/** Sends the password. @returns a visitor who still needs the second factor */
async function halfSignedIn(email: string): Promise<Visitor> {
  const visitor = createVisitor(app.url)
  const answer = await visitor.post('/sign-in', { email, password, next: '/account' })
  mustBe(answer.headers.location === '/sign-in/second-step')
  return visitor
}

test('an authenticator app is required at sign-in, and each code works once', async (t) => {
  const { secret } = await withApp('totp@example.com')
  const visitor = await halfSignedIn('totp@example.com')
  t.is((await visitor.get('/account')).status, 303, 'a sign-in without its second step has no session')
  const wrong = await visitor.post('/sign-in/second-step', { code: '000000' })
  t.is(wrong.status, 401)
  t.regex(wrong.text, /That code is not right/)
  const code = codeOf(secret)
  const taken = await visitor.post('/sign-in/second-step', { code })
  t.is(taken.headers.location, '/account')
  t.is((await visitor.get('/account')).status, 200)
  const again = await halfSignedIn('totp@example.com')
  t.is((await again.post('/sign-in/second-step', { code })).status, 401, 'a used code is refused')
})

test('a recovery code works once, and new codes replace the old ones', async (t) => {
  const { visitor, codes } = await withApp('codes@example.com')
  t.is(codes.length, 10)
  t.false((await visitor.get(page)).text.includes(codes[0] ?? ''), 'shown once')
  const [first = '', second = ''] = codes
  const by = async (code: string) =>
    await (await halfSignedIn('codes@example.com')).post('/sign-in/second-step', { code: code.toUpperCase() })
  t.is((await by(first)).status, 303)
  t.is((await by(first)).status, 401)
  t.regex((await visitor.get(page)).text, /9 of 10 are left/)
  await visitor.post(`${page}/recovery-codes`, { _confirmed: 'yes' }, page)
  t.is((await by(second)).status, 401)
})

test('changing a second factor requires a recent password check', async (t) => {
  const visitor = await join(app, team, 'member', 'careful@example.com')
  const requested = await visitor.get(page)
  t.regex(requested.text, /Type your password once more/)
  t.is((await visitor.post(`${page}/totp`, {}, page)).status, 403)
  t.is((await visitor.post(page, { password: 'something else' })).status, 400)
  t.is((await visitor.post(`${page}/totp`, {}, page)).status, 403)
  await visitor.post(page, { password })
  const other = await signedIn(app, 'careful@example.com')
  other.cookies.set('signalbox-recent-password', visitor.cookies.get('signalbox-recent-password') ?? '')
  t.is((await other.post(`${page}/totp`, {}, page)).status, 403, 'the password check of another session does not apply')
  t.is((await visitor.post(`${page}/totp`, {}, page)).status, 303)
})

test('an app that was never confirmed is not required at sign-in', async (t) => {
  const visitor = await join(app, team, 'member', 'begun@example.com')
  await visitor.post(page, { password })
  await visitor.post(`${page}/totp`, {}, page)
  const wrong = await visitor.post(`${page}/totp/confirm`, { code: '000000' }, `${page}/totp`)
  t.is(wrong.status, 400)
  const answer = await createVisitor(app.url).post('/sign-in', { email: 'begun@example.com', password })
  t.is(answer.headers.location, '/')
})

test('ten wrong codes from any addresses block the sign-in', async (t) => {
  await withApp('guessed@example.com')
  const visitor = await halfSignedIn('guessed@example.com')
  const token = await visitor.token('/sign-in/second-step')
  const statuses: number[] = []
  for (let attempt = 0; attempt < 11; attempt++) {
    const headers = { 'x-forwarded-for': `198.51.100.${attempt}` }
    statuses.push(
      (await visitor.send('/sign-in/second-step', { _csrf: token, code: `00000${attempt % 10}` }, headers)).status,
    )
  }
  t.deepEqual(statuses.slice(0, 9), Array(9).fill(401))
  t.is(statuses.at(-1), 429)
})

/** @returns the path of a link to choose a new password */
async function resetPath(email: string): Promise<string> {
  const outcome = await runAdmin(['user', 'reset-password', '--email', email], userCommands, admin)
  return new URL(outcome.stdout.trim()).pathname
}

test('a password reset by mail does not bypass a confirmed second factor', async (t) => {
  const { secret } = await withApp('reset@example.com')
  const link = new URL((await mailTo('reset@example.com')).url).pathname
  t.is((await createVisitor(app.url).post(`${link}/confirm`, {}, link)).status, 200)
  t.is((await createVisitor(app.url).get(link)).status, 404, 'the link works once')
  const [person] = await app.db('users').where({ email: 'reset@example.com' })
  const path = await resetPath('reset@example.com')
  const visitor = createVisitor(app.url)
  const changed = await visitor.post(path, { password: 'another set of words' })
  t.is(changed.headers.location, '/sign-in/second-step')
  t.is((await visitor.get('/account')).status, 303)
  t.is(Number((await app.db('sessions').where({ user_id: person.id }).count())[0]?.count), 0)
  t.is((await visitor.post('/sign-in/second-step', { code: codeOf(secret, 1) })).status, 303)
  t.is((await visitor.get('/account')).status, 200)
})

test('a password reset removes unconfirmed factors and address changes', async (t) => {
  const email = 'intruded@example.com'
  const { visitor: intruder } = await withApp(email)
  const [person] = await app.db('users').where({ email })
  const passkey = { credentialId: 'intruder', publicKey: Buffer.of(1), counter: 0, transports: [], name: 'Intruder' }
  await addPasskey({ kind: 'operator', name: 'test' }, { id: Number(person.id), email }, passkey, app.deps)
  await intruder.post('/account/address', { email: 'intruder@example.com', present: password }, '/account')
  const change = new URL((await mailTo('intruder@example.com')).url).pathname
  const owner = createVisitor(app.url)
  const changed = await owner.post(await resetPath(email), { password: 'another set of words' })
  t.is(changed.headers.location, '/account?done=password-reset')
  t.is((await owner.get('/account')).status, 200)
  for (const table of ['user_totp', 'user_passkeys', 'user_recovery_codes', 'one_time_links']) {
    t.is(await app.db(table).where({ user_id: person.id }).first(), undefined, table)
  }
  t.is((await createVisitor(app.url).post(change, {}, '/sign-in')).status, 404)
})

test('the mail about a new factor removes it and ends all sessions', async (t) => {
  const email = 'warned@example.com'
  const { visitor: intruder } = await withApp(email)
  const link = new URL((await mailTo(email)).url).pathname
  const owner = createVisitor(app.url)
  t.is((await owner.get(link)).status, 200)
  t.is((await intruder.get('/account')).status, 200, 'opening the link changes nothing')
  const removed = await owner.post(`${link}/remove`, {}, link)
  t.is((await intruder.get('/account')).status, 303)
  t.is((await owner.get(link)).status, 404, 'the link works once')
  await owner.post(removed.headers.location ?? '', { password: 'another set of words' })
  t.is((await owner.get('/account')).status, 200)
})

test('the link to the former address restores the account', async (t) => {
  const email = 'moved@example.com'
  const intruder = await join(app, team, 'member', email)
  const changed = { email: 'thief@example.com', present: password }
  await intruder.post('/account/address', changed, '/account')
  const change = new URL((await mailTo('thief@example.com')).url).pathname
  await intruder.post(change, {})
  const [person] = await app.db('users').where({ email: 'thief@example.com' })
  const passkey = { credentialId: 'thief', publicKey: Buffer.of(1), counter: 0, transports: [], name: 'Thief' }
  await addPasskey(
    { kind: 'operator', name: 'test' },
    { id: Number(person.id), email: changed.email },
    passkey,
    app.deps,
  )
  const confirm = new URL((await mailTo('thief@example.com')).url).pathname
  t.is((await intruder.post(`${confirm}/confirm`, {}, confirm)).status, 200)
  const owner = createVisitor(app.url)
  const restore = new URL((await mailTo(email)).url).pathname
  const restored = await owner.post(restore, {})
  t.is((await intruder.get('/account')).status, 303)
  await owner.post(restored.headers.location ?? '', { password: 'another set of words' })
  t.regex((await owner.get('/account')).text, /moved@example\.com/)
  t.is(await app.db('user_passkeys').where({ user_id: person.id }).first(), undefined)
})

test('removing a lost factor is audited and notifies the user', async (t) => {
  const { visitor, secret } = await withApp('lost@example.com')
  const stored = JSON.stringify(await app.db('user_totp'))
  t.false(stored.includes(secret), 'the secret is sealed')
  const outcome = await runAdmin(['user', 'remove-second-factors', '--email', 'lost@example.com'], userCommands, admin)
  t.is(outcome.status, 0, outcome.stderr)
  const answer = await createVisitor(app.url).post('/sign-in', { email: 'lost@example.com', password })
  t.is(answer.headers.location, '/')
  t.regex((await mailTo('lost@example.com')).lead, /was removed/)
  const entry = await app.db('audit_log').where({ action: 'second-factor.removed', actor: 'operator test' }).first()
  t.is(entry?.target, 'all')
  const [person] = await app.db('users').where({ email: 'lost@example.com' })
  t.is(await app.db('user_recovery_codes').where({ user_id: person.id }).first(), undefined)
  t.is((await visitor.get('/account')).status, 200)
})

test('the operator ends all sessions of a person, which is audited', async (t) => {
  const visitor = await join(app, team, 'member', 'left-open@example.com')
  t.is((await visitor.get('/account')).status, 200)
  const outcome = await runAdmin(['user', 'sign-out', '--email', 'left-open@example.com'], userCommands, admin)
  t.is(outcome.stdout, 'sessions ended: 1\n', outcome.stderr)
  t.is((await visitor.get('/account')).status, 303)
  const entry = await app.db('audit_log').where({ action: 'sessions.ended-by-operator' }).first()
  t.like(entry, { actor: 'operator test', target: 'left-open@example.com' })
  const both = await runAdmin(['user', 'sign-out', '--email', 'left-open@example.com', '--all'], userCommands, admin)
  t.regex(both.stderr, /either --email or --all/)
})

async function admin() {
  const { config, db, secrets, log } = app.deps
  return { config, db, secrets, log, actor: 'test', async [Symbol.asyncDispose]() {} }
}

test('a new address must be confirmed, and the previous one is notified', async (t) => {
  const visitor = await join(app, team, 'member', 'before@example.com')
  const wrong = await visitor.post('/account/address', { email: 'after@example.com', present: 'no' }, '/account')
  t.is(wrong.status, 400)
  t.regex(wrong.text, /not the current password/)
  const sent = await visitor.post('/account/address', { email: 'After@Example.com', present: password }, '/account')
  t.is(sent.headers.location, '/account')
  const text = (await visitor.get('/account')).text
  t.regex(text, /on its way to after@example\.com/)
  t.regex(text, /before@example\.com/)
  const mail = await mailTo('after@example.com')
  const path = new URL(mail.url).pathname
  t.is((await createVisitor(app.url).get(path)).status, 200, 'opening the link changes nothing')
  t.is((await app.db('users').where({ email: 'after@example.com' }).first()) ?? null, null)
  await visitor.post(path, {})
  t.regex((await visitor.get('/account')).text, /You sign in as after@example\.com/)
  t.regex((await mailTo('before@example.com')).lead, /after@example\.com/)
  t.is((await visitor.get(path)).status, 404, 'a link works once')
  const answer = await createVisitor(app.url).post('/sign-in', { email: 'after@example.com', password })
  t.is(answer.status, 303)
})

test('an address with an account cannot be taken and is not disclosed', async (t) => {
  await join(app, team, 'member', 'taken@example.com')
  const visitor = await join(app, team, 'member', 'wants@example.com')
  t.is(
    (await visitor.post('/account/address', { email: 'taken@example.com', present: password }, '/account')).status,
    303,
  )
  const path = new URL((await mailTo('taken@example.com')).url).pathname
  t.is((await visitor.post(path, {})).status, 404)
  t.truthy(await app.db('users').where({ email: 'wants@example.com' }).first())
})

async function mailTo(address: string): Promise<{ url: string; lead: string }> {
  const rows: { sealed_mail: string }[] = await app
    .db('outgoing_mails')
    .orderBy('created_at', 'desc')
    .select('sealed_mail')
  const mails = rows.map(({ sealed_mail: sealed }) => JSON.parse(app.deps.secrets.open('mail', sealed)))
  const found = mails.find(({ to }: { to: string }) => to === address)
  if (!found) throw new Error(`no mail to ${address}`)
  return found
}

test('each page has the theme and time zone of the user', async (t) => {
  const visitor = await join(app, team, 'member', 'look@example.com')
  t.notRegex((await visitor.get('/projects')).text, /data-theme|data-zone/)
  await visitor.post('/account/name', { name: 'Lo', theme: 'dark' }, '/account')
  await visitor.post('/account/reports', { report: 'off', reminder: 'off', tz: 'Asia/Kolkata' }, '/account')
  const { text } = await visitor.get('/projects')
  t.regex(text, /<html[^>]* data-theme="dark"/)
  t.regex(text, /<html[^>]* data-zone="Asia\/Kolkata"/)
  await visitor.post('/account/name', { name: 'Lo', theme: 'pink' }, '/account')
  t.notRegex((await visitor.get('/projects')).text, /data-theme/)
})
