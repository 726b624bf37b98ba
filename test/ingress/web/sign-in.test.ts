import test from 'ava'
import { openApp, type TestApp } from '../../support/app.ts'
import { createTeam, join, password, signedIn, type Team } from './people.ts'
import { createVisitor } from './visitor.ts'

let app: TestApp
let team: Team

test.before(async () => {
  app = await openApp({ workers: ['ping-evaluator'] })
  team = await createTeam(app, 'Acme')
  await join(app, team, 'owner', 'owner@example.com')
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
})

test('a page asks people to sign in first and leads on to what they wanted', async (t) => {
  const visitor = createVisitor(app.url)
  const path = `/projects/${team.project.uuid}/checks`
  const asked = await visitor.get(path)
  t.is(asked.status, 303)
  t.is(asked.headers.location, `/sign-in?next=${encodeURIComponent(path)}`)
  const answer = await visitor.post('/sign-in', { email: ' Owner@Example.com', password, next: path })
  t.is(answer.headers.location, path)
  t.is((await visitor.get(path)).status, 200)
})

for (const next of ['https://evil.example', '//evil.example', '/\\evil.example', '/%0d\nx'])
  test(`signing in never leads to ${JSON.stringify(next)}`, async (t) => {
    const answer = await createVisitor(app.url).post('/sign-in', { email: 'owner@example.com', password, next })
    t.is(answer.headers.location, '/')
  })

test('an unknown address and a wrong password get the same answer', async (t) => {
  const texts = await Promise.all(
    [
      { email: 'owner@example.com', password: 'not the password' },
      { email: 'nobody@example.com', password: 'not the password' },
    ].map(async (fields) => {
      const answer = await createVisitor(app.url).post('/sign-in', fields)
      t.is(answer.status, 401)
      return answer.text.replaceAll(fields.email, '').replace(/name="_csrf" value="[^"]+"/g, '')
    }),
  )
  t.is(texts[0], texts[1])
})

test('the session cookie is out of reach of scripts and other sites, and changes with every sign-in', async (t) => {
  const visitor = createVisitor(app.url)
  const first = await visitor.post('/sign-in', { email: 'owner@example.com', password })
  const line = first.headers['set-cookie']?.find((cookie) => cookie.includes('session'))
  t.regex(line ?? '', /; HttpOnly/)
  t.regex(line ?? '', /; SameSite=Lax/)
  t.regex(line ?? '', /; Path=\//)
  const before = visitor.cookies.get('signalbox-session')
  const token = await visitor.token('/account')
  await visitor.send('/sign-in', { _csrf: token, email: 'owner@example.com', password })
  t.not(visitor.cookies.get('signalbox-session'), before)
  visitor.cookies.set('signalbox-session', before ?? '')
  t.is((await visitor.get('/account')).status, 303, 'the session before is gone')
})

test('a session id chosen by somebody else is never taken over', async (t) => {
  const visitor = createVisitor(app.url)
  const chosen = 'A'.repeat(43)
  visitor.cookies.set('signalbox-session', chosen)
  await visitor.post('/sign-in', { email: 'owner@example.com', password })
  t.not(visitor.cookies.get('signalbox-session'), chosen)
})

test('behind https cookies are secure and bound to the host', async (t) => {
  await using secure = await openApp({ env: { PUBLIC_URL: 'https://signals.example' } })
  const answer = await createVisitor(secure.url).get('/sign-in')
  const [line = ''] = answer.headers['set-cookie'] ?? []
  t.regex(line, /^__Host-signalbox-visit=.*; Secure/)
  t.false(line.includes('Domain='))
  t.truthy(answer.headers['strict-transport-security'])
})

test('a form without its token, with another browser’s, or from another site is refused', async (t) => {
  const visitor = await signedIn(app, 'owner@example.com')
  const other = await signedIn(app, 'owner@example.com')
  const foreign = await other.token('/account')
  const own = await visitor.token('/account')
  t.is((await visitor.send('/account/name', { name: 'x' })).status, 403)
  t.is((await visitor.send('/account/name', { name: 'x', _csrf: foreign })).status, 403)
  const headers = { 'sec-fetch-site': 'cross-site' }
  t.is((await visitor.send('/account/name', { name: 'x', _csrf: own }, headers)).status, 403)
  t.is((await visitor.send('/account/name', { name: 'x', _csrf: own })).status, 303)
})

test('signing out ends the session at the server, and nothing of it is kept by the browser', async (t) => {
  const visitor = await signedIn(app, 'owner@example.com')
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

test('guessing passwords of one account ends soon, whatever the address', async (t) => {
  const visitor = createVisitor(app.url)
  const token = await visitor.token('/sign-in')
  const statuses: number[] = []
  for (let attempt = 0; attempt < 12; attempt++) {
    const fields = { _csrf: token, email: 'victim@example.com', password: `guess ${attempt}` }
    const answer = await visitor.send('/sign-in', fields, { 'x-forwarded-for': `203.0.113.${attempt}` })
    statuses.push(answer.status)
  }
  t.deepEqual([...new Set(statuses)], [401, 429])
  t.is(statuses.filter((status) => status === 401).length, 10)
})

test('spraying one password over many accounts ends soon', async (t) => {
  const visitor = createVisitor(app.url)
  const token = await visitor.token('/sign-in')
  let last = 0
  for (let attempt = 0; attempt < 41; attempt++) {
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
  t.false(policy.includes('unsafe'))
  t.is(headers['x-content-type-options'], 'nosniff')
  t.is(headers['referrer-policy'], 'no-referrer')
  t.notRegex(text, /<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/)
})
