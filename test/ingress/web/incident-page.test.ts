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

/** Adds an incident and its check, which is down because the shared alerter resolves other incidents. */
async function addIncidentOf({ owner, team }: { owner: Visitor; team: Team }, { name = '', minutes = 10 }) {
  const uuid = await addCheck(owner, team, { name })
  const { id: checkId } = await app.db('checks').where({ uuid }).first('id')
  const id = await addIncident(app.db, { projectId: team.project.id, checkId }, { minutes })
  const at = app.db('incidents').where({ id }).select('down_at')
  await app.db('flips').insert({ check_id: checkId, at, from_status: 'up', to_status: 'down', reason: 'timeout' })
  await app.db('checks').where({ id: checkId }).update({ status: 'down' })
  return { uuid, checkId, id }
}

/** Creates an incident with a failure, a failed notification and a note. */
async function setUp() {
  const team = await createTeam(app, 'Team')
  const owner = await join(app, team, 'owner')
  const { uuid, checkId, id } = await addIncidentOf({ owner, team }, { name: 'billing' })
  await app
    .db('incident_events')
    .insert([{ incident_id: id, kind: 'note', actor_name: 'anna@example.org', via: 'page', text: 'disk <full>' }])
  await app.db('alert_decisions').insert({
    ...{ check_id: checkId, incident_id: id, outcome: 'suppressed', reason: 'MAINTENANCE' },
    at: app.db('incidents').where({ id }).select('down_at'),
    detail: { name: 'Patch night' },
  })
  return { team, owner, check: uuid, checkId, path: `/incidents/${id}`, id }
}

const lines = (html: string) =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&quot;', '"')
    .replace(/\s+/g, ' ')

test('the head states cause and state; the timeline has filters', async (t) => {
  const { owner, path } = await setUp()
  const { text } = await owner.get(path)
  t.regex(
    lines(text),
    /billing Alerting Down since 20\S+ \S+ UTC \( 10 min \): no ping by 20\S+ \S+ plus 5 min grace\./,
  )
  t.regex(lines(text), /Muted: it is in maintenance \("Patch night"\).*Note by anna@example\.org: disk <full>/)
  const people = lines((await owner.get(`${path}?show=people`)).text)
  t.regex(people, /Note by anna/)
  t.notRegex(people, /Patch night/)
  t.notRegex(lines((await owner.get(`${path}?show=notifications`)).text), /Note by anna/)
})

test('times are in the zone of the account, otherwise in that of the check, and the timeline names it', async (t) => {
  const { owner, path, checkId, team } = await setUp()
  await app.db('checks').where({ id: checkId }).update({ tz: 'Asia/Kolkata' })
  const zone = async () => /<html[^>]* data-zone="([^"]*)"/.exec((await owner.get(path)).text)?.[1]
  t.is(await zone(), 'Asia/Kolkata')
  t.regex((await owner.get(path)).text, /Times in <span data-zone-name[^>]*>UTC<\/span>\./, 'without scripts')
  const { id } = await app
    .db('users')
    .where({ email: emailOf(team, 'owner') })
    .first('id')
  await app.db('user_reports').insert({ user_id: id, report: 'off', reminder: 'off', tz: 'Europe/Riga' })
  t.is(await zone(), 'Europe/Riga')
})

test('the page of an incident and its check show the last line of the last failure', async (t) => {
  const { owner, team, check, checkId, path } = await setUp()
  await app.db('flips').where({ check_id: checkId }).update({ reason: 'fail' })
  const ping = { check_id: checkId, type: 'fail', scheme: 'http', method: 'POST', ua: 'curl' }
  await app.db('pings').insert({ ...ping, slot: 1, n: 1, at: new Date(), body: 'dumping\nno <space>\n\n' })
  await app.db('checks').where({ id: checkId }).update({ n_pings: 1 })
  for (const page of [path, `/checks/${check}`])
    t.regex(lines((await owner.get(page)).text), /Last failure: ping #1 : no <space> /)
  const reader = await join(app, team, 'read-only')
  const { text } = await reader.get(path)
  t.regex(text, /Last failure: <a href="\/checks\/[0-9a-f]{40}\/pings\/1">/)
  t.false(lines(text).includes('no <space>'), 'a body may contain a ping URL')
  t.true(text.includes('. Open it to read its body, in which ping addresses are hidden.'))
  const log = lines((await reader.get(`/checks/${check}`)).text)
  t.regex(log, /with a body .*Bodies are shown here only to roles that may change checks/)
  t.false(lines((await owner.get(`/checks/${check}`)).text).includes('Bodies are shown here only'))
})

test('a long timeline continues on the next page', async (t) => {
  const { owner, path, id } = await setUp()
  const note = { incident_id: id, kind: 'note', actor_name: 'anna', via: 'api' }
  await app.db('incident_events').insert(Array.from({ length: 500 }, (_, n) => ({ ...note, text: `n${n}.` })))
  const first = (await owner.get(path)).text
  t.true(first.includes('href="/incidents/') && first.includes('?after=500"'))
  t.regex(lines((await owner.get(`${path}?after=500`)).text), /Note by anna: n\d+\./)
})

test('the report has a template, inserts the timeline and is exported', async (t) => {
  const { owner, path, team } = await setUp()
  t.regex((await owner.get(path)).text, /<textarea[^>]*>Summary\n[\s\S]*Timeline[\s\S]*Actions/)
  await owner.post(
    `${path}/report`,
    { report: 'Summary\n<b>Disk</b>\n\nTimeline\n\nCause', do: 'insert-timeline' },
    path,
  )
  const shown = (await owner.get(path)).text
  t.regex(shown, /&lt;b>Disk&lt;\/b>/)
  t.regex(shown, /Timeline\n20\S+ \S+ UTC {2}Down: no ping in time\n/)
  const exported = await owner.get(`${path}/markdown`)
  t.regex(exported.headers['content-type'] ?? '', /^text\/markdown/)
  t.regex(exported.headers['content-disposition'] ?? '', /attachment; filename="incident-/)
  t.regex(exported.text, /^# billing\n\n- State: alerting[\s\S]*## Report\n\nSummary\n<b>Disk/)
  const stranger = await join(app, await createTeam(app, 'Other'), 'owner')
  t.is((await stranger.get(`${path}/markdown`)).status, 404)
  const viewer = await join(app, team, 'read-only')
  t.is((await viewer.get(`${path}/markdown`)).status, 200)
})

test('a responder acts on incidents but cannot merge or report them', async (t) => {
  const { team, path, id } = await setUp()
  const responder = await join(app, team, 'responder')
  t.is((await responder.post(`${path}/take`, {}, path)).status, 303)
  t.is((await app.db('incidents').where({ id }).first('assignee')).assignee, emailOf(team, 'responder'))
  t.regex((await responder.get(path)).text, /name="text"/)
  for (const action of ['collect', 'unmerge', 'report'])
    t.is((await responder.post(`${path}/${action}`, {}, path)).status, 403, action)
})

test('saving the unchanged template stores no report', async (t) => {
  const { owner, path, id } = await setUp()
  const template = /<textarea[^>]*>([^<]*)</.exec((await owner.get(path)).text)?.[1] ?? ''
  await owner.post(`${path}/report`, { report: template }, path)
  t.is((await app.db('incidents').where({ id }).first('report')).report, '')
})

test('the page can assign, mute and escalate an incident', async (t) => {
  const { owner, team, path, id } = await setUp()
  const row = () => app.db('incidents').where({ id }).first()
  const me = emailOf(team, 'owner')
  t.is((await owner.post(`${path}/take`, {}, path)).status, 303)
  t.like(await row(), { state: 'acknowledged', ack_by: me, assignee: me, is_snoozed: false })
  t.is((await owner.post(`${path}/ack`, { for: '3600' }, path)).status, 303)
  t.like(await row(), { state: 'acknowledged', is_snoozed: true })
  t.regex(lines((await owner.get(path)).text), /billing Snoozed .*Snoozed by owner-\d+@example\.com until 20/)
  t.is((await owner.post(`${path}/ack`, { for: '1' }, path)).status, 400)
  t.is((await owner.post(`${path}/assign`, { to: '' }, path)).status, 303)
  t.like(await row(), { assignee: null })
  await owner.post(`${path}/assign`, { to: me, notify: 'on' }, path)
  t.like(await row(), { assignee: me, state: 'acknowledged' }, 'a person who assigns to themselves is not notified')
  const to = emailOf(team, 'read-only')
  const viewer = await join(app, team, 'read-only')
  await owner.post(`${path}/assign`, { to, notify: 'on' }, path)
  t.true((await owner.get(path)).text.includes(`Not possible: ${to} cannot be reached.`))
  t.is((await owner.post(`${path}/assign`, { to }, path)).status, 303)
  t.like(await row(), { assignee: to })
  const notes = Array.from({ length: 200 }, () => ({ incident_id: id, kind: 'note', text: 'many' }))
  await app.db('incident_events').insert(notes)
  t.is((await owner.post(`${path}/assign`, { to: me }, path)).status, 303)
  t.true((await owner.get(path)).text.includes('Not possible: incident has 200 actions, the maximum.'))
  await app.db('incident_events').where({ incident_id: id, text: 'many' }).delete()
  t.notRegex((await owner.get(path)).text, /Escalate now/, 'without a policy there is no further step')
  const step = { ...IMPLICIT_PLAN.steps[0], wait: 3600, channels: [] }
  const [policy] = await app
    .db('alert_policies')
    .insert({
      project_id: team.project.id,
      name: 'p',
      plan: { ...IMPLICIT_PLAN, steps: [step] },
    })
    .returning('id')
  await app.db('incidents').where({ id }).update({ is_direct: false, policy_id: policy.id })
  t.regex((await owner.get(path)).text, /Escalate now/)
  t.is((await owner.post(`${path}/escalate`, {}, path)).status, 303)
  t.regex((await owner.get(path)).text, /Escalated by owner-/)
  for (const verb of ['take', 'escalate', 'assign'])
    t.is((await viewer.post(`${path}/${verb}`, {}, '/account')).status, 403, verb)
})

test('incidents that began together can be merged and separated', async (t) => {
  const { owner, team, path, id } = await setUp()
  const { id: member } = await addIncidentOf({ owner, team }, { name: 'ledger', minutes: 12 })
  const { id: earlier } = await addIncidentOf({ owner, team }, { name: 'mailer', minutes: 60 })
  t.regex((await owner.get(path)).text, /Merge “ledger”, which began at that time/)
  t.is((await owner.post(`${path}/collect`, { _confirmed: 'yes' }, path)).status, 303)
  t.is((await app.db('incidents').where({ id: member }).first()).lead_id, id)
  t.is((await app.db('incidents').where({ id: earlier }).first()).lead_id, null)
  t.regex(lines((await owner.get(path)).text), /Merged incidents ledger/)
  const page = lines((await owner.get(`/incidents/${member}`)).text)
  t.regex(page, /Merged into billing , which sends the notifications/)
  t.regex(page, /Merged into "billing" by owner-/)
  t.is((await owner.post(`/incidents/${member}/unmerge`, {}, `/incidents/${member}`)).status, 303)
  t.is((await app.db('incidents').where({ id: member }).first()).lead_id, null)
})
