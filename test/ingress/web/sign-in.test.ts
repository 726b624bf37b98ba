import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, emailOf, join, password, signedIn, type Team } from './people.ts'
import { createVisitor } from './visitor.ts'

let app: HttpProduct
let team: Team

test.before(async () => {
  app = await sharedProduct()
  team = await createTeam(app, 'Acme')
  await join(app, team, 'owner')
})

test('a visitor is redirected to the sign-in and then to the page', async (t) => {
  const visitor = createVisitor(app.url)
  const path = `/projects/${team.project.uuid}/checks`
  const requested = await visitor.get(path)
  t.is(requested.status, 303)
  t.is(requested.headers.location, `/sign-in?next=${encodeURIComponent(path)}`)
  const answer = await visitor.post('/sign-in', {
    email: ` ${emailOf(team, 'owner').replace('owner', 'Owner')}`,
    password,
    next: path,
  })
  t.is(answer.headers.location, path)
  t.is((await visitor.get(path)).status, 200)
})

for (const next of ['https://evil.example', '//evil.example', '/\\evil.example', '/%0d\nx'])
  test(`a sign-in does not redirect to ${JSON.stringify(next)}`, async (t) => {
    const answer = await createVisitor(app.url).post('/sign-in', { email: emailOf(team, 'owner'), password, next })
    t.is(answer.headers.location, '/')
  })

test('an unknown address and a wrong password get the same answer', async (t) => {
  const texts = await Promise.all(
    [
      { email: emailOf(team, 'owner'), password: 'not the password' },
      { email: 'unknown@example.com', password: 'not the password' },
    ].map(async (fields) => {
      const answer = await createVisitor(app.url).post('/sign-in', fields)
      t.is(answer.status, 401)
      return answer.text.replaceAll(fields.email, '').replace(/name="_csrf" value="[^"]+"/g, '')
    }),
  )
  t.is(texts[0], texts[1])
})

test('the session cookie is HttpOnly, SameSite and new for every sign-in', async (t) => {
  const visitor = createVisitor(app.url)
  const first = await visitor.post('/sign-in', { email: emailOf(team, 'owner'), password })
  const line = first.headers['set-cookie']?.find((cookie) => cookie.includes('session'))
  t.regex(line ?? '', /; HttpOnly/)
  t.regex(line ?? '', /; SameSite=Lax/)
  t.regex(line ?? '', /; Path=\//)
  const before = visitor.cookies.get('signalbox-session')
  const token = await visitor.token('/account')
  await visitor.send('/sign-in', { _csrf: token, email: emailOf(team, 'owner'), password })
  t.not(visitor.cookies.get('signalbox-session'), before)
  visitor.cookies.set('signalbox-session', before ?? '')
  t.is((await visitor.get('/account')).status, 303, 'the earlier session has ended')
})

test('a sign-in never uses a session id from the client', async (t) => {
  const visitor = createVisitor(app.url)
  const chosen = 'A'.repeat(43)
  visitor.cookies.set('signalbox-session', chosen)
  await visitor.post('/sign-in', { email: emailOf(team, 'owner'), password })
  t.not(visitor.cookies.get('signalbox-session'), chosen)
})

test('with https, cookies are Secure and have the __Host- prefix', async (t) => {
  await using secure = await openProduct({ listener: 'http', env: { PUBLIC_URL: 'https://signals.example' } })
  const answer = await createVisitor(secure.url).get('/sign-in')
  const [line = ''] = answer.headers['set-cookie'] ?? []
  t.regex(line, /^__Host-signalbox-visit=.*; Secure/)
  t.false(line.includes('Domain='))
  t.truthy(answer.headers['strict-transport-security'])
})

test('refuses a form without a token, with a foreign token or cross-site', async (t) => {
  const visitor = await signedIn(app, emailOf(team, 'owner'))
  const other = await signedIn(app, emailOf(team, 'owner'))
  const foreign = await other.token('/account')
  const own = await visitor.token('/account')
  t.is((await visitor.send('/account/name', { name: 'x' })).status, 403)
  t.is((await visitor.send('/account/name', { name: 'x', _csrf: foreign })).status, 403)
  const headers = { 'sec-fetch-site': 'cross-site' }
  t.is((await visitor.send('/account/name', { name: 'x', _csrf: own }, headers)).status, 403)
  t.is((await visitor.send('/account/name', { name: 'x', _csrf: own })).status, 303)
})

test('signing out ends the session and clears data in the browser', async (t) => {
  const visitor = await signedIn(app, emailOf(team, 'owner'))
  const session = visitor.cookies.get('signalbox-session') ?? ''
  t.is((await visitor.get('/account')).headers['cache-control'], 'no-store')
  await visitor.post('/sign-out', {}, '/account')
  t.false(visitor.cookies.has('signalbox-session'))
  visitor.cookies.set('signalbox-session', session)
  t.is((await visitor.get('/account')).status, 303)
})

test('signing out everywhere ends every other session', async (t) => {
  const here = await join(app, team, 'member', 'traveller@example.com')
  const there = await signedIn(app, 'traveller@example.com')
  await here.post('/sign-out-everywhere', {}, '/account')
  t.is((await here.get('/account')).status, 200)
  t.is((await there.get('/account')).status, 303)
})

/** Tries wrong passwords. @returns the statuses of the responses */
async function guess(email: string, attempts: number, addressOf: (attempt: number) => string): Promise<number[]> {
  const visitor = createVisitor(app.url)
  const token = await visitor.token('/sign-in')
  const statuses: number[] = []
  for (let attempt = 0; attempt < attempts; attempt++) {
    const fields = { _csrf: token, email, password: `guess ${attempt}` }
    statuses.push((await visitor.send('/sign-in', fields, { 'x-forwarded-for': addressOf(attempt) })).status)
  }
  return statuses
}

test('a user can end a single session', async (t) => {
  const email = 'two-browsers@example.com'
  const here = await join(app, await createTeam(app, 'Two browsers'), 'owner', email)
  const there = await signedIn(app, email)
  const { text } = await here.get('/account')
  const ids = [...text.matchAll(/\/account\/sessions\/(\d+)\/end/g)].map(([, id]) => Number(id))
  const newest = Math.max(...ids)
  const stranger = await join(app, await createTeam(app, 'Elsewhere'), 'owner')
  await stranger.post(`/account/sessions/${newest}/end`, {}, '/account')
  t.is((await there.get('/account')).status, 200, 'a stranger cannot end it')
  t.is((await here.post(`/account/sessions/${newest}/end`, {}, '/account')).status, 303)
  t.is((await there.get('/account')).status, 303, 'signed out')
  t.is((await here.get('/account')).status, 200)
})

test('wrong passwords for one account are limited across all addresses', async (t) => {
  const statuses = await guess('victim@example.com', 12, (attempt) => `203.0.113.${attempt}`)
  t.deepEqual([...new Set(statuses)], [401, 429])
  t.is(statuses.filter((status) => status === 401).length, 10)
})

test('wrong passwords from other addresses do not lock out the user', async (t) => {
  await join(app, team, 'member', 'guessed-at@example.com')
  const statuses = await guess('guessed-at@example.com', 12, (attempt) => `203.0.113.${100 + attempt}`)
  t.is(statuses.at(-1), 429)
  const person = createVisitor(app.url)
  const fields = { email: 'guessed-at@example.com', _csrf: await person.token('/sign-in') }
  const from = { 'x-forwarded-for': '198.51.100.20' }
  t.is((await person.send('/sign-in', { ...fields, password: 'not this one' }, from)).status, 429)
  t.is((await person.send('/sign-in', { ...fields, password }, from)).status, 303)
})

test('after too many wrong passwords an address is blocked', async (t) => {
  await join(app, team, 'member', 'pair@example.com')
  await guess('pair@example.com', 10, () => '198.51.100.21')
  const guesser = createVisitor(app.url)
  const fields = { email: 'pair@example.com', password, _csrf: await guesser.token('/sign-in') }
  t.is((await guesser.send('/sign-in', fields, { 'x-forwarded-for': '198.51.100.21' })).status, 429)
})

test('wrong passwords for many accounts are limited per address', async (t) => {
  const visitor = createVisitor(app.url)
  const token = await visitor.token('/sign-in')
  let last = 0
  // Forty, and one more for every 22 seconds that they take.
  for (let attempt = 0; attempt < 60 && last !== 429; attempt++) {
    const fields = { _csrf: token, email: `person${attempt}@example.com`, password: 'Password123456' }
    last = (await visitor.send('/sign-in', fields, { 'x-forwarded-for': '198.51.100.7' })).status
  }
  t.is(last, 429)
})

test('every page forbids inline scripts, frames, sniffing and referrers', async (t) => {
  const { headers, text } = await createVisitor(app.url).get('/sign-in')
  const policy = String(headers['content-security-policy'])
  t.regex(policy, /default-src 'none'/)
  t.regex(policy, /frame-ancestors 'none'/)
  t.regex(policy, /font-src 'self'(;|$)/, 'fonts are loaded from the same origin')
  t.false(policy.includes('unsafe'))
  t.is(headers['x-content-type-options'], 'nosniff')
  t.is(headers['referrer-policy'], 'no-referrer')
  t.notRegex(text, /<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/)
})

test('sign-ins from the addresses of one IPv6 network count together', async (t) => {
  const visitor = createVisitor(app.url)
  const _csrf = await visitor.token('/sign-in')
  const from = async (address: string, n: number) =>
    await visitor.send(
      '/sign-in',
      { _csrf, email: `nobody-${n}@example.com`, password: 'x' },
      { 'x-forwarded-for': address },
    )
  const statuses = []
  for (let n = 1; n <= 45; n++) statuses.push((await from(`2001:db8:9:9::${n}`, n)).status)
  t.is(statuses[0], 401)
  t.is(statuses.at(-1), 429)
  t.is((await from('2001:db8:9:a::1', 99)).status, 401)
})

test('sign-ins, failed sign-ins and sign-outs are in the audit log', async (t) => {
  const audited = await createTeam(app, 'Audited')
  await join(app, audited, 'owner', 'audited@example.com')
  const person = await signedIn(app, 'audited@example.com')
  await createVisitor(app.url).post('/sign-in', { email: 'audited@example.com', password: 'not this one' })
  await person.post('/sign-out', {}, '/account')
  const actions = await eventually('the entries', async () => {
    const rows = await app.deps.db('audit_log').where({ organisation_id: audited.organisationId }).orderBy('id')
    return rows.length >= 3 ? rows.map(({ actor, action }) => `${actor} ${action}`) : null
  })
  t.deepEqual(actions.toSorted(), [
    'audited@example.com sign-in.failed',
    'audited@example.com sign-in.succeeded',
    'audited@example.com sign-out',
  ])
})

test('sign-in and sign-out work even if the audit entry cannot be written', async (t) => {
  const unnoted = 'unnoted@example.com'
  await app.db.raw(`ALTER TABLE audit_log ADD CONSTRAINT refuses CHECK (actor <> '${unnoted}')`)
  const person = await join(app, await createTeam(app, 'Unnoted'), 'owner', unnoted)
  t.is((await person.get('/account')).status, 200)
  t.is((await createVisitor(app.url).post('/sign-in', { email: unnoted, password: 'not this one' })).status, 401)
  t.is((await person.post('/sign-out', {}, '/account')).status, 303)
  t.is((await person.get('/account')).status, 303)
})
