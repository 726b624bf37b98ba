import test from 'ava'
import { addMethod, addPerson } from '../../support/personal.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addIntegration } from '../../support/projects.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { stopRefill } from '../../support/stop-refill.ts'
import { addCheck, createTeam, join, type Team } from './people.ts'
import { fieldsOf, type Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let owner: Visitor
let base: string

test.before(async () => {
  app = await sharedProduct({ workers: ['sweeper'] })
})
/** Creates a project with an owner for each test. */
async function setUp(): Promise<void> {
  team = await createTeam(app, 'Team')
  owner = await join(app, team, 'owner')
  base = `/projects/${team.project.uuid}`
}

const rulesOf = async (uuid: string) =>
  await app
    .db('check_rules')
    .join('checks', 'checks.id', 'check_rules.check_id')
    .where('checks.uuid', uuid)
    .first('policy_id', 'severity', 'parents', 'parents_mode')

test.serial('a policy is assigned to a check, independently of its tags', async (t) => {
  await setUp()
  const check = await addCheck(owner, team, { name: 'web' })
  await owner.post(`${base}/policies/new`, {
    name: 'Night',
    match: '',
    position: '0',
    steps: '1',
    'steps[0].whom': 'own',
  })
  const policy = await app.db('alert_policies').where({ project_id: team.project.id }).first('id', 'uuid')
  const path = `/checks/${check}/rules`
  t.is((await owner.post(path, { policy: policy?.uuid, severity: 'warning', mode: 'any' })).status, 303)
  t.like(await rulesOf(check), { policy_id: policy?.id, severity: 'warning' })
  t.regex((await owner.get(`/checks/${check}`)).text, /Night: at once/)
  t.like(fieldsOf((await owner.get(path)).text), { policy: policy?.uuid, severity: 'warning' })
  t.is((await owner.post(path, { policy: '', severity: 'critical', mode: 'any' })).status, 303)
  t.like(await rulesOf(check), { policy_id: null })
})

test.serial('parents are shown with warnings, and a cycle is refused with names', async (t) => {
  await setUp()
  const router = await addCheck(owner, team, { name: 'router', timeout: '2', timeout_unit: 'days' })
  const web = await addCheck(owner, team, { name: 'web' })
  const path = `/checks/${web}/rules`
  const sent = { policy: '', severity: 'critical', mode: 'all', parent_tags: 'switch', add_check: 'router' }
  t.is((await owner.post(path, sent)).status, 303)
  t.like(await rulesOf(web), { parents: [{ check: router }, { tag: 'switch' }], parents_mode: 'all' })
  const page = (await owner.get(`/checks/${web}`)).text
  t.regex(page, /Depends on[\s\S]*router[\s\S]*all of these are down/)
  t.regex(page, /Attention: it sends no alerts\./)
  t.regex(page, /Attention: it is noticed later than this check/)
  t.regex((await owner.get(`/checks/${router}`)).text, /1 check depends on it\./)
  const integration = await addIntegration(app.deps, team.project.id, 'On call')
  const id = await app.db('checks').where({ uuid: router }).first('id')
  await app.db('check_integrations').insert({ check_id: id?.id, integration_id: integration.id })
  await app.db('checks').where({ uuid: router }).update({ timeout_seconds: 60, grace_seconds: 60 })
  t.notRegex((await owner.get(`/checks/${web}`)).text, /Attention/)

  const ring = await owner.post(`/checks/${router}/rules`, { ...sent, parent_tags: '', add_check: 'web' })
  t.is(ring.status, 400)
  t.regex(ring.text, /id="add_check-error">It would depend on itself: router (>|&gt;) web (>|&gt;) router\./)
  t.is(fieldsOf(ring.text).add_check, 'web', 'the form keeps the typed name')
  const unknown = await owner.post(path, { ...sent, add_check: 'unknown' })
  t.is(unknown.status, 400)
  t.regex(unknown.text, /There is no check with this name/)
  const kept = fieldsOf((await owner.get(path)).text)
  t.like(kept, { check: router, parent_tags: 'switch', mode: 'all' })
  const { check: _, ...without } = kept
  t.is((await owner.post(path, { ...without, parent_tags: '' })).status, 303)
  t.like(await rulesOf(web), { parents: [] })
})

test.serial('a viewer cannot change rules or simulate, a stranger gets 404', async (t) => {
  await setUp()
  const check = await addCheck(owner, team, { name: 'web' })
  const viewer = await join(app, team, 'read-only', `viewer${team.organisationId}@example.com`)
  const stranger = await join(app, await createTeam(app, 'far off'), 'owner', 'far-off@example.com')
  for (const path of [`/checks/${check}/rules`, `${base}/simulator`]) {
    t.is((await viewer.get(path)).status, 403, path)
    t.is((await stranger.get(path)).status, 404, path)
    t.is((await viewer.post(path, { severity: 'info' }, '/account')).status, 403, path)
    t.is((await stranger.post(path, { severity: 'info' }, '/account')).status, 404, path)
  }
  t.is(await rulesOf(check), undefined)
})

test.serial('the simulator compares a draft with the policies in force', async (t) => {
  await setUp()
  const check = await addCheck(owner, team, { name: 'web <1>', tags: 'prod' })
  const chat = await addIntegration(app.deps, team.project.id, 'Chat')
  const id = await app.db('checks').where({ uuid: check }).first('id')
  await app.db('check_integrations').insert({ check_id: id?.id, integration_id: chat.id })
  const anna = await addPerson(app.deps, team.project.organisationId)
  await addMethod(app.deps, anna.id, 'gotify', { url: 'http://127.0.0.1:9', token: 'anna' })
  const draft = {
    name: 'Typed',
    match: 'prod',
    position: '0',
    steps: '1',
    draft_of: 'new',
    'steps[0].whom': 'chosen',
    'steps[0].channels': chat.uuid,
    'steps[0].people': `person:${anna.email}`,
    'steps[0].wait': '10',
    'steps[0].wait_unit': 'minutes',
  }
  const path = `${base}/simulator`
  const offered = (await owner.get(`${path}?check=${check}`)).text
  t.regex(offered, new RegExp(`<option value="${check}" selected>web (<|&lt;)1(>|&gt;)</option>`), 'checks are chosen')
  t.is((await owner.post(path, { check: '', policy: 'none' })).status, 400)
  const tried = fieldsOf((await owner.post(path, { ...draft, try: 'on' })).text)
  t.like(tried, { ...draft, policy: 'draft' }, 'the simulator gets the fields of the form')
  const back = fieldsOf((await owner.post(`${base}/policies/${tried.draft_of}`, { ...tried, do: 'draft' })).text)
  t.like(back, draft, 'the draft is shown again')
  const requested = { ...draft, check, policy: 'draft', source: 'lines', lines: '03:00 ok\n03:10 fail\n03:30 success' }
  const { status, text } = await owner.post(path, requested)
  t.is(status, 200, text)
  const [, inForce = '', other = ''] = text.split('class="card outcome"')
  t.regex(inForce, /T03:10:00\+00:00"[^>]*>[^<]*<\/time> Chat: DOWN/)
  t.regex(other, /With the draft/)
  t.regex(other, /T03:20:00\+00:00"[^>]*>[^<]*<\/time> Chat: DOWN/)
  t.regex(other, /T03:30:00\+00:00"[^>]*>[^<]*<\/time> Chat: UP/)
  t.true(other.includes(`</time> ${anna.email} (Gotify): DOWN`))
  t.true(other.includes(`<li>${anna.email}: Notified: the conditions of the policy were met.</li>`))
  const lanes = (html: string) => [...html.matchAll(/<text[^>]*>[^<]*<title>([^<]*)/g)].map(([, label]) => label)
  t.deepEqual([lanes(inForce), lanes(other)], [['Chat'], ['Chat', anna.email]], 'one lane per recipient')
  t.is((await app.db('alert_policies').where({ project_id: team.project.id })).length, 0, 'nothing is stored')
  t.is((await app.db('incidents').where({ project_id: team.project.id })).length, 0)
  const replayed = (await owner.post(path, { ...requested, source: 'yesterday' })).text
  const [from = '', until = ''] = [...replayed.matchAll(/<time datetime="([^"]+T00:00:00\+00:00)"/g)].map(
    ([, at]) => at,
  )
  t.is(Date.parse(until) - Date.parse(from), 86_400_000)
  t.regex(replayed, /The check did not go down in this time/)
  const wrong = await owner.post(path, { ...requested, lines: '03:00 <what>' })
  t.is(wrong.status, 400)
  t.regex(wrong.text, /id="lines-error">Not understood: 03:00 &lt;what/)
  t.is((await owner.post(path, { ...requested, check: 'unknown' })).status, 400)
  const more = Array.from({ length: 300 }, (_, n) => ({ project_id: team.project.id, name: `more ${n}` }))
  await app.db('checks').insert(more)
  t.regex(
    (await owner.get(`${path}?check=${check}`)).text,
    /<input id="check" name="check" value="web .* list="checks"/,
    'too many',
  )
  await app.db('checks').where({ project_id: team.project.id }).whereLike('name', 'more %').delete()
  t.is((await owner.post(path, { ...requested, 'steps[0].wait': 'soon' })).status, 400)
  // The limit allows another request every ten seconds, which can pass on a busy machine.
  await stopRefill(app.db, `simulation:${team.project.id}`)
  for (let n = 0; n < 5; n++) await owner.post(path, requested)
  const often = await owner.post(path, requested)
  t.is(often.status, 400)
  t.regex(often.text, /Only six simulations per minute are allowed/)
})

test.serial('the simulator replays with an unsaved schedule, and returns to its form', async (t) => {
  await setUp()
  const check = await addCheck(owner, team, { name: 'web', tags: 'prod' })
  const people = []
  for (const name of ['Anna', 'Ben']) {
    const person = await addPerson(app.deps, team.project.organisationId, name)
    await addMethod(app.deps, person.id, 'gotify', { url: 'http://127.0.0.1:9', token: name })
    people.push(person.email)
  }
  const [anna = '', ben = ''] = people
  const form = (person: string) => ({
    ...{ name: 'Primary', tz: 'UTC', coverage: 'always', layers: '1', effective: 'now' },
    ...{ 'layers[0].people': person, 'layers[0].start': '2026-01-05T09:00' },
    ...{ 'layers[0].rotation.unit': 'week', 'layers[0].rotation.every': '1' },
  })
  await owner.post(`${base}/on-call/new`, form(anna))
  const { uuid: schedule } = await app.db('schedules').where({ project_id: team.project.id }).first('uuid')
  await owner.post(`${base}/policies/new`, {
    ...{ name: 'On call', match: '*', position: '0', steps: '1' },
    ...{ 'steps[0].whom': 'none', 'steps[0].people': `schedule:${schedule}` },
  })
  const edit = `${base}/on-call/${schedule}/edit`
  t.regex((await owner.get(edit)).text, /formAction="[^"]*\/simulator"[^>]*>Try it in the simulator</i)
  const draft = { ...form(ben), schedule }
  const tried = fieldsOf((await owner.post(`${base}/simulator`, { ...draft, try: 'on' })).text)
  t.like(tried, { ...draft, policy: 'current' }, 'the fields of the form come along')
  t.like(fieldsOf((await owner.post(edit, { ...tried, do: 'draft' })).text), draft, 'the draft is shown again')
  const requested = { ...tried, check, source: 'lines', lines: '03:00 ok\n03:10 fail' }
  const { status, text } = await owner.post(`${base}/simulator`, requested)
  t.is(status, 200, text)
  const [, inForce = '', other = ''] = text.split('class="card outcome"')
  t.regex(other, /With the draft of the schedule and the policy in force/)
  const recipients = (html: string) => [...html.matchAll(/<\/time> ([^<]*) \(Gotify\): DOWN/g)].map(([, name]) => name)
  t.deepEqual([recipients(inForce), recipients(other)], [[anna], [ben]])
  const wrong = await owner.post(`${base}/simulator`, { ...requested, 'layers[0].start': 'soon' })
  t.is(wrong.status, 400)
  t.regex(wrong.text, /The draft of the schedule: layers\[0\]\.start must be /)
  const { document } = await app.db('schedules').where({ uuid: schedule }).first('document')
  t.deepEqual(document.layers[0].people, [anna], 'nothing is stored')
})
