import test from 'ava'
import { IMPLICIT_PLAN } from '#shared/monitoring/alerting/policy.ts'
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
  await app
    .db('incidents')
    .where({ id: ids.acknowledged })
    .update({ down_at: app.db.raw(`now() - interval '40 minutes'`) })
  return { team, owner, path: `/projects/${team.project.uuid}/incidents`, ids }
}

const idsOf = (html: string) => [
  ...new Set([...html.matchAll(/<a href="\/incidents\/([0-9a-f-]{36})"/g)].map(([, id]) => id)),
]
const lines = (html: string) => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')

test('tabs list incidents by state with assignee and mute reason', async (t) => {
  const { team, owner, path, ids } = await setUp()
  const { text } = await owner.get(path)
  t.deepEqual(idsOf(text), [ids.alerting, ids.muted, ids.acknowledged])
  t.regex(lines(text), /All open 3 Acknowledged 1 Resolved 1 Mine 1/)
  t.regex(lines(text), /Muted backup · it is in maintenance/)
  t.regex(lines(text), /Acknowledged search .*owner-\d+@example\.com/)
  t.deepEqual(idsOf((await owner.get(`${path}?tab=resolved`)).text), [ids.resolved])
  t.deepEqual(idsOf((await owner.get(`${path}?tab=mine`)).text), [ids.acknowledged])
  await app
    .db('users')
    .where({ email: emailOf(team, 'owner') })
    .update({ name: 'Ada Owner' })
  t.regex(lines((await owner.get(path)).text), /Acknowledged search .*40 min Ada Owner/, 'a member is shown by name')
})

test('an empty tab explains itself and leads to the next step', async (t) => {
  const team = await createTeam(app, 'Empty')
  const owner = await join(app, team, 'owner')
  const viewer = await join(app, team, 'read-only')
  const base = `/projects/${team.project.uuid}`
  const path = `${base}/incidents`
  const { text } = await owner.get(path)
  t.regex(text, /<h2 id="empty-title">No open incidents<\/h2>/)
  t.true(text.includes(`href="${base}/policies/new"`), 'a policy decides who is notified')
  t.notRegex(text, /name="severity"/, 'nothing to filter')
  t.false((await viewer.get(path)).text.includes('/policies/new'))
  const uuid = await addCheck(owner, team, { name: 'mailer' })
  const { id: checkId } = await app.db('checks').where({ uuid }).first('id')
  await addIncident(app.db, { projectId: team.project.id, checkId }, { ...ENDED, resolved_at: new Date() })
  t.true((await owner.get(path)).text.includes(`href="${path}?tab=resolved">Resolved incidents`))
  t.regex((await owner.get(`${path}?q=other`)).text, /No incident fits these filters\./)
  t.notRegex((await owner.get(`${path}?tab=resolved`)).text, /Next notification|Mute 1 h/)
})

test('all pages show that no notification follows, or the current mute', async (t) => {
  const { owner, team, path, ids } = await setUp()
  const exhausted = { is_direct: false, notified: '[1]', exhausted_at: new Date() }
  await app.db('incidents').where({ id: ids.alerting }).update(exhausted)
  const row = await app.db('incidents').where({ id: ids.alerting }).first('check_id')
  const check = `/checks/${(await app.db('checks').where({ id: row.check_id }).first('uuid')).uuid}`
  const list = `/projects/${team.project.uuid}/checks`
  const shown = async (page: string) => lines((await owner.get(page)).text)
  for (const page of [path, list, `${list}?wall=1`]) t.regex(await shown(page), /No further notification/, page)
  const pages = [`/incidents/${ids.alerting}`, check]
  for (const page of pages) t.regex(await shown(page), /No further notification until it is up again\./, page)
  await owner.post(`${check}/mute`, { back: list }, list)
  for (const page of pages) {
    t.regex(await shown(page), /Next notification: none, it is muted until 20\d\d-/, page)
    t.notRegex(await shown(page), /No further notification/, page)
  }
})

test('the list names the next recipient and counts further ones; the page names all', async (t) => {
  const { team, owner, path, ids } = await setUp()
  const people = ['anna', 'ben', 'carl'].map((name) => ({ person: `${name}@example.org` }))
  const next = async (shown: object[], page: string) => {
    const later = { ...IMPLICIT_PLAN.steps[0], people: shown, own: false, wait: 1815 }
    const policy = { project_id: team.project.id, name: 'p', plan: { ...IMPLICIT_PLAN, steps: [later] } }
    const [{ id }] = await app.db('alert_policies').insert(policy).returning('id')
    await app.db('incidents').where({ id: ids.alerting }).update({ is_direct: false, policy_id: id })
    return lines((await owner.get(page)).text)
  }
  const page = `/incidents/${ids.alerting}`
  t.regex(await next(people.slice(0, 2), path), / anna@example\.org, ben@example\.org in 20 min /)
  t.regex(await next(people, path), / anna@example\.org and 2 more in 20 min /)
  const all =
    /Next notification: anna@example\.org, ben@example\.org, carl@example\.org in 20 min , if it is still down/
  t.regex(await next(people, page), all)
})

test('a resolved incident names who acknowledged it, unless it was undone', async (t) => {
  const { team, owner, path, ids } = await setUp()
  const page = `/incidents/${ids.resolved}`
  const who = async () =>
    lines(/<td class="i-who[^>]*>.*?<\/td>/s.exec((await owner.get(`${path}?tab=resolved`)).text)?.[0] ?? '').trim()
  const head = async () =>
    / Acknowledged by (\S+@example\.org(?: \(SMS\))?)\./.exec(lines((await owner.get(page)).text))?.[1]
  const act = (kind: string) =>
    app
      .db('incident_events')
      .insert({ incident_id: ids.resolved, kind, actor_name: 'ben@example.org', via: 'page', text: '' })
  await act('ack')
  t.deepEqual([await who(), await head()], ['ben@example.org', 'ben@example.org'], 'an acknowledgement that expired')
  await act('unack')
  t.deepEqual([await who(), await head()], ['–', undefined])
  const ack = { ack_at: new Date(), ack_by: 'anna@example.org', ack_via: 'sms', assignee: emailOf(team, 'owner') }
  await app.db('incidents').where({ id: ids.resolved }).update(ack)
  t.deepEqual([await who(), await head()], ['anna@example.org (SMS)', 'anna@example.org (SMS)'], 'not the assignee')
})

test('filters combine and apply to the counts of the tabs', async (t) => {
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
  t.regex(lines((await owner.get(`${path}?q=bill`)).text), /All open 1 Acknowledged 0 Resolved 0/)
})

/** Acknowledges the selected incidents through the form. */
async function acknowledgeSelected(visitor: Visitor, path: string, ids: readonly string[], page: string) {
  const body = new URLSearchParams([['_csrf', await visitor.token(page)], ...ids.map((id) => ['incident', id])])
  return await visitor.sendBody(path, body.toString(), { 'content-type': 'application/x-www-form-urlencoded' })
}

test('members of the team acknowledge selected incidents, viewers cannot', async (t) => {
  const { team, owner, path, ids } = await setUp()
  const viewer = await join(app, team, 'read-only')
  const other = await createTeam(app, 'Other')
  const stranger = await join(app, other, 'owner')
  const all = Object.values(ids)
  t.is((await acknowledgeSelected(viewer, `${path}/ack`, all, '/account')).status, 403)
  t.notRegex((await viewer.get(path)).text, /Acknowledge<\/button>/)
  t.is((await acknowledgeSelected(stranger, ackOf(other), all, '/account')).status, 303)
  t.is(await countAcknowledged(team), 1, 'another project cannot acknowledge them')
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
