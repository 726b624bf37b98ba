import test from 'ava'
import { addIncident } from '../../support/incidents.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addCheck, createTeam, emailOf, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const ENDED = { state: 'resolved', resolution: 'recovered' }

/** Creates one incident in each state, each for a different check. */
async function setUp() {
  const team = await createTeam(app, 'Team')
  const owner = await join(app, team, 'owner')
  const add = async (name: string, columns: Record<string, unknown>) => {
    const uuid = await addCheck(owner, team, { name, tags: name === 'billing' ? 'prod' : '' })
    const check = await app.db('checks').where({ uuid }).first('id')
    return await addIncident(app.db, { projectId: team.project.id, checkId: check.id }, columns)
  }
  const ack = { state: 'acknowledged', ack_by: 'anna@example.org', ack_at: new Date() }
  const ids = {
    resolved: await add('mailer', { ...ENDED, resolved_at: app.db.raw('now()') }),
    acknowledged: await add('search', { ...ack, assignee: emailOf(team, 'owner') }),
    muted: await add('backup', { suppression: 'MAINTENANCE' }),
    alerting: await add('billing', { severity: 'warning' }),
  }
  return { team, owner, path: `/projects/${team.project.uuid}/incidents`, ids }
}

const idsOf = (html: string) => [
  ...new Set([...html.matchAll(/<a href="\/incidents\/([0-9a-f-]{36})"/g)].map(([, id]) => id)),
]
const lines = (html: string) => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')

test('tabs list incidents by state, and show the reason of a mute and who works on one', async (t) => {
  const { owner, path, ids } = await setUp()
  const { text } = await owner.get(path)
  t.deepEqual(idsOf(text), [ids.alerting, ids.muted, ids.acknowledged])
  t.regex(lines(text), /Open 3 Acknowledged 1 Resolved 1 Mine 1/)
  t.regex(lines(text), /Muted backup · it is in maintenance/)
  t.regex(lines(text), /Acknowledged search .*owner-\d+@example\.com/)
  t.deepEqual(idsOf((await owner.get(`${path}?tab=resolved`)).text), [ids.resolved])
  t.deepEqual(idsOf((await owner.get(`${path}?tab=mine`)).text), [ids.acknowledged])
})

test('filters of the list apply together and to the counts of the tabs', async (t) => {
  const { owner, path, ids } = await setUp()
  const found = async (query: string) => idsOf((await owner.get(`${path}?${query}`)).text)
  t.deepEqual(await found('q=BILL'), [ids.alerting])
  t.deepEqual(await found('tag=prod&severity=warning'), [ids.alerting])
  t.deepEqual(await found('tag=prod&severity=critical'), [])
  t.deepEqual(await found('person=anna@example.org'), [ids.acknowledged])
  await app
    .db('incidents')
    .where({ id: ids.muted })
    .update({ down_at: app.db.raw(`now() - interval '2 days'`) })
  t.deepEqual(await found('since=1'), [ids.alerting, ids.acknowledged])
  t.regex(lines((await owner.get(`${path}?q=bill`)).text), /Open 1 Acknowledged 0 Resolved 0/)
})

/** Ticks incidents as a browser does. */
async function acknowledgeSelected(visitor: Visitor, path: string, ids: readonly string[], page: string) {
  const body = new URLSearchParams([['_csrf', await visitor.token(page)], ...ids.map((id) => ['incident', id])])
  return await visitor.sendBody(path, body.toString(), { 'content-type': 'application/x-www-form-urlencoded' })
}

test('selected incidents are acknowledged together; a viewer and another team cannot', async (t) => {
  const { team, owner, path, ids } = await setUp()
  const viewer = await join(app, team, 'read-only')
  const other = await createTeam(app, 'Other')
  const stranger = await join(app, other, 'owner')
  const all = Object.values(ids)
  t.is((await acknowledgeSelected(viewer, `${path}/ack`, all, '/account')).status, 403)
  t.notRegex((await viewer.get(path)).text, /Acknowledge<\/button>/)
  t.is((await acknowledgeSelected(stranger, ackOf(other), all, '/account')).status, 303)
  t.is(await countAcknowledged(team), 1, 'another project acknowledges none of them')
  t.is((await acknowledgeSelected(owner, `${path}/ack`, all, path)).status, 303)
  t.regex((await owner.get(path)).text, /3 acknowledged\./)
  t.is(await countAcknowledged(team), 3)
  t.is((await app.db('incidents').where({ id: ids.resolved }).first()).state, 'resolved')
})

const ackOf = ({ project }: Team) => `/projects/${project.uuid}/incidents/ack`

async function countAcknowledged({ project }: Team): Promise<number> {
  return (await app.db('incidents').where({ project_id: project.id, state: 'acknowledged' })).length
}

test('a list of more than a page continues in the same order', async (t) => {
  const team = await createTeam(app, 'Team')
  const owner = await join(app, team, 'owner')
  const uuid = await addCheck(owner, team, { name: 'often' })
  const { id: checkId } = await app.db('checks').where({ uuid }).first('id')
  const ids: string[] = []
  for (let n = 0; n < 52; n++)
    ids.unshift(
      await addIncident(app.db, { projectId: team.project.id, checkId }, { ...ENDED, resolved_at: new Date() }),
    )
  const path = `/projects/${team.project.uuid}/incidents?tab=resolved`
  const first = (await owner.get(path)).text
  t.deepEqual(idsOf(first), ids.slice(0, 50))
  const next = /href="([^"]*cursor=[^"]*)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? ''
  t.deepEqual(idsOf((await owner.get(next)).text), ids.slice(50))
})
