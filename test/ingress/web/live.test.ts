import { get } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import { addWebhook, notify } from '../../support/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addCheck, createTeam, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let owner: Visitor

test.before(async () => {
  app = await sharedProduct({ workers: ['sweeper', 'notifier'] })
})
/** Creates a project with an owner for each test. */
async function setUp(): Promise<void> {
  team = await createTeam(app, 'Team')
  owner = await join(app, team, 'owner')
}

/** Opens a page and then its events, as a browser does. @returns a function that returns the changes received so far */
async function watch(t: ExecutionContext, path: string, visitor = owner, ended = () => {}): Promise<() => string[]> {
  const { text } = await visitor.get(path)
  const [, address = ''] = /data-live="([^"]+)"/.exec(text) ?? []
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  let received = ''
  const request = get(
    `${app.url}${address.replaceAll('&amp;', '&')}`,
    { headers: { cookie }, agent: false },
    (answer) => {
      answer.setEncoding('utf8')
      answer.on('data', (piece: string) => (received += piece))
      answer.on('error', () => {})
      answer.on('end', ended)
    },
  )
  request.on('error', () => {})
  t.teardown(() => request.destroy())
  await eventually('the event stream to be open', () => received.includes('still here'))
  return () => [...received.matchAll(/^event: changed\ndata: (\w+)$/gm)].map(([, status = '']) => status)
}

// Without an event a page reloads every 30 seconds, which is longer than the timeout of `eventually`.

test.serial('a ping is sent to the viewers of its list and of its check', async (t) => {
  await setUp()
  const uuid = await addCheck(owner, team)
  const list = await watch(t, `/projects/${team.project.uuid}/checks`)
  const page = await watch(t, `/checks/${uuid}`)
  t.deepEqual([list(), page()], [[], []])
  await fetch(`${app.url}/ping/${uuid}`)
  await eventually('both pages to receive the event', () => list().length > 0 && page().length > 0)
  t.deepEqual([list(), page()], [['up'], ['up']])
  await fetch(`${app.url}/ping/${uuid}/fail`)
  await eventually('both pages to receive the failure', () => list().includes('down') && page().includes('down'))
})

test.serial('a change in another project is not sent', async (t) => {
  await setUp()
  const elsewhere = await createTeam(app, 'Elsewhere')
  const stranger = await join(app, elsewhere, 'owner')
  const foreign = await addCheck(stranger, elsewhere)
  const own = await addCheck(owner, team)
  const list = await watch(t, `/projects/${team.project.uuid}/checks`)
  await fetch(`${app.url}/ping/${foreign}`)
  await fetch(`${app.url}/ping/${own}`)
  await eventually('the event of the project', () => list().length > 0)
  t.deepEqual(list(), ['up'])
})

test.serial('a missed deadline and its notification are sent', async (t) => {
  await setUp()
  const uuid = await addCheck(owner, team)
  const integration = await addWebhook(app.deps, team.project.id, `${app.url}/nowhere`)
  const check = await app.deps.db('checks').where({ uuid }).first()
  t.assert(check)
  await notify(app.deps.db, [check], [integration])
  await fetch(`${app.url}/ping/${uuid}`)
  await eventually('the ping', async () => (await app.deps.db('checks').where({ uuid }).first())?.status === 'up')
  const list = await watch(t, `/projects/${team.project.uuid}/checks`)
  const history = await watch(t, `/integrations/${integration.uuid}`)
  const past = new Date(Date.now() - 60_000)
  await app.deps.db('checks').where({ uuid }).update({ alert_after: past })
  await eventually('the sweep', () => list().includes('down'))
  await eventually('the attempt', () => history().length > 0)
  t.pass()
})

test.serial('a change at another listener is sent', async (t) => {
  await setUp()
  const uuid = await addCheck(owner, team)
  const list = await watch(t, `/projects/${team.project.uuid}/checks`)
  t.is((await owner.post(`/checks/${uuid}/pause`, {}, `/checks/${uuid}`)).status, 303)
  await eventually('the pause', () => list().length > 0)
  t.pass()
})

for (const [what, change] of [
  [
    'is removed',
    (organisationId: number, userId: number) =>
      app.deps.db('memberships').where({ organisation_id: organisationId, user_id: userId }).delete(),
  ],
  [
    'signed out in another browser',
    (_organisationId: number, userId: number) => app.deps.db('sessions').where({ user_id: userId }).delete(),
  ],
  [
    'got another role',
    (_organisationId: number, userId: number) =>
      app.deps.db('sessions').where({ user_id: userId }).update({ renew: true }),
  ],
] as const)
  test.serial(`the event stream of a member who ${what} ends before the next event`, async (t) => {
    await setUp()
    const uuid = await addCheck(owner, team)
    const email = `leaves-${team.organisationId}@example.com`
    const leaving = await join(app, team, 'member', email)
    let isEnded = false
    const list = `/projects/${team.project.uuid}/checks`
    const stays = await watch(t, `/checks/${uuid}`)
    const leaves = await watch(t, list, leaving, () => (isEnded = true))
    const { id } = await app.deps.db('users').where({ email }).first('id')
    await change(team.organisationId, id)
    await fetch(`${app.url}/ping/${uuid}`)
    await eventually('the events to end', () => isEnded)
    await eventually('the other page to receive the event', () => stays().length > 0)
    t.deepEqual(leaves(), [])
  })
