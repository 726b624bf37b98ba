import test from 'ava'
import { insertLink } from '#shared/tenancy/accounts/link-store.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { type Issuer, openIssuer } from './issuer.ts'
import { createTeam, join, password, signedIn, type Team } from './people.ts'
import { createVisitor, type Visitor } from './visitor.ts'

let app: HttpProduct
let issuer: Issuer
let team: Team

test.before(async () => {
  issuer = await openIssuer()
  app = await openProduct({
    listener: 'http',
    env: {
      OIDC_ISSUER: issuer.url,
      OIDC_NAME: 'Acme accounts',
      OIDC_CLIENT_ID: 'signalbox',
      OIDC_CLIENT_SECRET: 'a secret of the client',
    },
  })
  issuer.start(`${app.url}/sign-in/oidc/callback`)
  team = await createTeam(app, 'Acme')
  await join(app, team, 'owner', 'ada@example.com')
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
  await issuer?.[Symbol.asyncDispose]()
})

async function begin(visitor: Visitor, next = ''): Promise<string> {
  const answer = await visitor.post('/sign-in/oidc', { next }, '/sign-in')
  return answer.headers.location ?? ''
}

test.serial('an unconnected identity is refused, even if its address has an account', async (t) => {
  for (const email_verified of [false, true]) {
    issuer.person = { sub: 'stranger', email: 'ada@example.com', email_verified }
    const visitor = createVisitor(app.url)
    const back = await issuer.signIn(await begin(visitor))
    t.is((await visitor.get(back)).status, 403)
    t.is((await visitor.get('/account')).status, 303, 'no user is signed in')
  }
})

test.serial('the single sign-on button has its configured name, below the password form', async (t) => {
  const { text } = await createVisitor(app.url).get('/sign-in')
  const places = ['name="password"', 'Forgot the password?', 'Sign in with Acme accounts'].map((part) =>
    text.indexOf(part),
  )
  t.true(places.every((place) => place > 0))
  t.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  )
  t.false(text.includes(`with ${new URL(issuer.url).host}`))
})

test.serial('a connected identity signs in, by issuer and subject', async (t) => {
  issuer.person = { sub: 'subject-1', email: 'any@example.com', email_verified: false }
  const owner = await signedIn(app, 'ada@example.com')
  const started = await owner.post('/account/oidc', { password }, '/account')
  t.is(
    (await owner.get(await issuer.signIn(started.headers.location ?? ''))).headers.location,
    '/account?done=identity-connected',
  )
  const visitor = createVisitor(app.url)
  const finished = await visitor.get(await issuer.signIn(await begin(visitor, '/projects')))
  t.is(finished.headers.location, '/projects')
  t.true((await visitor.get('/account')).text.includes('ada@example.com'))
})

test.serial('a callback needs the state of its browser and works once', async (t) => {
  issuer.person = { sub: 'subject-1', email: '', email_verified: false }
  const [one, two] = [createVisitor(app.url), createVisitor(app.url)]
  const back = await issuer.signIn(await begin(one))
  t.is((await createVisitor(app.url).get(back)).status, 403, 'another browser')
  await begin(two)
  t.is((await two.get(back)).status, 403, 'another flow')
  const flow = one.cookies.get('signalbox-sign-in') ?? ''
  t.is((await one.get(back)).status, 303)
  const replayer = createVisitor(app.url)
  replayer.cookies.set('signalbox-sign-in', flow)
  t.is((await replayer.get(back)).status, 403, 'the code works once')
})

test.serial('the code of another issuer is refused', async (t) => {
  const visitor = createVisitor(app.url)
  const url = new URL(await begin(visitor))
  const state = url.searchParams.get('state') ?? ''
  t.is(url.searchParams.get('code_challenge_method'), 'S256')
  t.truthy(url.searchParams.get('nonce'))
  const wrongIssuer = new URLSearchParams({ code: 'x', state, iss: 'https://evil.example' })
  t.is((await visitor.get(`/sign-in/oidc/callback?${wrongIssuer}`)).status, 403)
})

test.serial('a verified identity with the same address accepts an invitation', async (t) => {
  const owner = await signedIn(app, 'ada@example.com')
  const members = `/organisations/${team.organisationUuid}/members`
  const invitations = `/organisations/${team.organisationUuid}/invitations`
  await owner.post(invitations, { email: 'new@example.com', role: 'member' }, members)
  const invited = await owner.get(members)
  const path = new URL(/http:\S+\/invitations\/[\w-]{43}/.exec(invited.text)?.[0] ?? '').pathname
  for (const [sub, email, email_verified] of [
    ['eve', 'eve@example.com', true],
    ['mallory', 'new@example.com', false],
  ] as const) {
    issuer.person = { sub, email, email_verified }
    const visitor = createVisitor(app.url)
    t.is((await visitor.get(await issuer.signIn(await begin(visitor, path)))).status, 403, sub)
  }
  issuer.person = { sub: 'new-person', email: 'new@example.com', email_verified: true }
  const visitor = createVisitor(app.url)
  t.is((await visitor.get(await issuer.signIn(await begin(visitor, path)))).headers.location, '/projects')
  t.is((await visitor.get(`/projects/${team.project.uuid}/checks`)).status, 200)
})

test.serial('an identity is connected with the password and removed by a reset', async (t) => {
  const person = await join(app, team, 'member', 'm10@example.com')
  issuer.person = { sub: 'm10', email: '', email_verified: false }
  t.is((await person.post('/account/oidc', { password: 'not this one' }, '/account')).status, 403)
  const connect = async () => {
    const started = await person.post('/account/oidc', { password }, '/account')
    await person.get(await issuer.signIn(started.headers.location ?? ''))
    return await app.deps.db('user_identities').where({ subject: 'm10' })
  }
  const [identity] = await connect()
  t.truthy(identity)
  const fields = { issuer: String(identity?.issuer), subject: 'm10' }
  const stranger = await join(app, team, 'member', 'm10-stranger@example.com')
  t.is((await stranger.post('/account/oidc/disconnect', fields, '/account')).status, 404)
  t.is((await person.post('/account/oidc/disconnect', fields, '/account')).status, 303)
  t.is((await app.deps.db('user_identities').where({ subject: 'm10' })).length, 0)
  t.is((await connect()).length, 1)
  const user = await app.deps.db('users').where({ email: 'm10@example.com' }).first('id')
  const digest = app.deps.secrets.digest('reset-password:by-mail')
  await insertLink(app.deps.db, { purpose: 'reset-password', digest, userId: Number(user?.id) })
  const visitor = createVisitor(app.url)
  t.is((await visitor.post('/reset-password/by-mail', { password: 'four other words here' })).status, 303)
  t.is((await app.deps.db('user_identities').where({ subject: 'm10' })).length, 0)
})
