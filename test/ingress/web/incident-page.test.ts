import test from 'ava'
import { addIncident } from '../../support/incidents.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addCheck, createTeam, emailOf, join } from './people.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

/** An incident with a failure, a failed notification and a note. */
async function setUp() {
  const team = await createTeam(app, 'Team')
  const owner = await join(app, team, 'owner')
  const uuid = await addCheck(owner, team, { name: 'billing' })
  const check = await app.db('checks').where({ uuid }).first('id')
  const id = await addIncident(app.db, { projectId: team.project.id, checkId: check.id })
  const at = app.db('incidents').where({ id }).select('down_at')
  await app.db('flips').insert({ check_id: check.id, at, from_status: 'up', to_status: 'down', reason: 'timeout' })
  await app.db('checks').where({ id: check.id }).update({ status: 'down' })
  await app
    .db('incident_events')
    .insert([{ incident_id: id, kind: 'note', actor_name: 'anna@example.org', via: 'page', text: 'disk <full>' }])
  await app.db('alert_decisions').insert({
    ...{ check_id: check.id, incident_id: id, at, outcome: 'suppressed', reason: 'MAINTENANCE' },
    detail: { name: 'Patch night' },
  })
  return { team, owner, check: uuid, checkId: check.id, path: `/incidents/${id}`, id }
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

test('a long timeline continues on the next page', async (t) => {
  const { owner, path, id } = await setUp()
  const note = { incident_id: id, kind: 'note', actor_name: 'anna', via: 'api' }
  await app.db('incident_events').insert(Array.from({ length: 500 }, (_, n) => ({ ...note, text: `n${n}.` })))
  const first = (await owner.get(path)).text
  t.true(first.includes('href="/incidents/') && first.includes('?after=500"'))
  t.regex(lines((await owner.get(`${path}?after=500`)).text), /Note by anna: n\d+\./)
})

test('the report starts from a template, takes the timeline and is exported as text', async (t) => {
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

test('a responder acts on incidents but does not merge them or write the report', async (t) => {
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

test('the buttons of the page take, mute, assign and escalate', async (t) => {
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
  t.notRegex((await owner.get(path)).text, /Escalate now/, 'without a policy there is no further step')
  const plan = { when: { failures: 1, of: null, down_for: 0, successes: 1 }, group: { checks: 20, within: 0 } }
  const step = { wait: 3600, channels: [], severity: 'info', repeat: null, hours: [], outside: 'wait' }
  const [policy] = await app
    .db('alert_policies')
    .insert({
      project_id: team.project.id,
      name: 'p',
      plan: { ...plan, steps: [step], flapping: null, ack_timeout: null },
    })
    .returning('id')
  await app.db('incidents').where({ id }).update({ is_direct: false, policy_id: policy.id })
  t.regex((await owner.get(path)).text, /Escalate now/)
  t.is((await owner.post(`${path}/escalate`, {}, path)).status, 303)
  t.regex((await owner.get(path)).text, /Escalated by owner-/)
  const viewer = await join(app, team, 'read-only')
  for (const verb of ['take', 'escalate', 'assign'])
    t.is((await viewer.post(`${path}/${verb}`, {}, '/account')).status, 403, verb)
})

test('incidents that began together are merged on request and separated', async (t) => {
  const { owner, team, path, id } = await setUp()
  const add = async (name: string, minutes: number) => {
    const check = await app
      .db('checks')
      .where({ uuid: await addCheck(owner, team, { name }) })
      .first('id')
    return await addIncident(app.db, { projectId: team.project.id, checkId: check.id }, { minutes })
  }
  const [member, earlier] = [await add('ledger', 12), await add('mailer', 60)]
  t.regex((await owner.get(path)).text, /1 more began at that time: Merge/)
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
