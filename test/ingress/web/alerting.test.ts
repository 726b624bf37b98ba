import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addIntegration } from '../../support/projects.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addCheck, createTeam, join, type Team } from './people.ts'
import { fieldsOf, type Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let owner: Visitor
let base: string

test.before(async () => {
  app = await sharedProduct({ workers: ['notifier', 'sweeper'] })
})
/** Creates a project with an owner for each test. */
async function setUp(): Promise<void> {
  team = await createTeam(app, 'Team')
  owner = await join(app, team, 'owner')
  base = `/projects/${team.project.uuid}`
}

/** The fields of a policy form: a step at once and a step after 15 minutes, both repeated hourly. */
const form = {
  name: 'On call',
  match: 'prod',
  position: '1',
  steps: '2',
  'steps[0].whom': 'own',
  'steps[0].wait': '0',
  'steps[0].repeat.every': '1',
  'steps[0].repeat.every_unit': 'hours',
  'steps[1].whom': 'own',
  'steps[1].wait': '15',
  'steps[1].wait_unit': 'minutes',
  'steps[1].severity': 'critical',
}

const plain = (html: string) => html.replaceAll('&#39;', "'").replaceAll('&quot;', '"')

test.serial('a policy is created, shown in sentences, changed and deleted', async (t) => {
  await setUp()
  const check = await addCheck(owner, team, { name: 'db-backup', tags: 'prod' })
  const onCheck = async () =>
    /<h2 id="notified">.*?<\/section>/.exec((await owner.get(`/checks/${check}`)).text)?.[0] ?? ''
  t.regex(await onCheck(), /id="notified">Notifications<.*?None\..*edit#integrations">Choose integrations</)
  t.is((await owner.post(`${base}/policies/new`, form)).status, 303)
  t.regex(await onCheck(), /Integrations of this check.*None, although the alert policy notifies them\./)
  const list = plain((await owner.get(`${base}/policies`)).text)
  const words =
    /<b>At once<\/b> the integrations of the check, again every hour<\/li><li><b>After 15 min<\/b> the integrations of the check, if critical<\/li>/
  t.regex(list, words)
  t.regex(list, /For checks with the tag prod: 1 check</)
  const path = /\/projects\/[0-9a-f-]{36}\/policies\/[0-9a-f-]{36}/.exec(list)?.[0] ?? ''
  const shown = plain((await owner.get(path)).text)
  t.regex(shown, /value="On call"/)
  t.regex(shown, words)
  const draft = await owner.post(path, { ...form, 'steps[1].wait': '30', do: 'draft' })
  t.regex(
    plain(draft.text),
    /id="plan-preview"[^>]*><ol[^>]*>.*<b>After 30 min<\/b>/,
    'the preview for the script shows the draft',
  )
  t.regex(shown, /name="steps\[1\]\.wait"[^>]*value="15"|value="15"[^>]*name="steps\[1\]\.wait"/)
  const unnamed = await addIntegration(app.deps, team.project.id, '')
  const changed = { ...form, name: 'Night', 'steps[1].whom': 'chosen', 'steps[1].channels': unnamed.uuid }
  t.is((await owner.post(path, changed)).status, 303)
  t.regex((await owner.get(`${base}/policies`)).text, /Night.*<b>After 15 min<\/b> E-mail/, 'shown by its type')
  t.is((await owner.post(`${path}/delete`, {}, `${base}/policies`)).status, 303)
  t.notRegex((await owner.get(`${base}/policies`)).text, /Night/)
})

test.serial('a policy shows how many checks it matches while another one applies', async (t) => {
  await setUp()
  await addCheck(owner, team, { name: 'db', tags: 'prod db' })
  await owner.post(`${base}/policies/new`, form)
  await owner.post(`${base}/policies/new`, { ...form, name: 'Databases', match: 'db', position: '2' })
  const list = (await owner.get(`${base}/policies`)).text
  t.regex(list, /For checks with the tag prod: 1 check</)
  t.regex(list, /For checks with the tag db: 0 checks\. Another policy applies to 1 more check that matches\.</)
})

test.serial('the form has every setting of a policy and saves it unchanged', async (t) => {
  await setUp()
  const phone = await addIntegration(app.deps, team.project.id, 'Phone, "Anna"')
  const full = {
    ...form,
    'when.failures': '2',
    'when.of': '5',
    'when.down_for': '2',
    'when.down_for_unit': 'minutes',
    'when.successes': '3',
    'group.checks': '30',
    'group.within': '45',
    'group.within_unit': 'seconds',
    'flapping.changes': '6',
    'flapping.within': '1',
    'flapping.within_unit': 'hours',
    ack_timeout: '4',
    ack_timeout_unit: 'hours',
    'fallback.people': 'person:boss@example.org',
    'fallback.wait': '10',
    'fallback.wait_unit': 'minutes',
    notify_ack: 'on',
    'steps[0].people': 'person:anna@example.org',
    'steps[1].whom': 'chosen',
    'steps[1].channels': phone.uuid,
    'steps[1].repeat.every': '10',
    'steps[1].repeat.every_unit': 'minutes',
    'steps[1].repeat.times': '3',
    'steps[1].hours': '2',
    'steps[1].hours[0].every': '',
    'steps[1].hours[1].every': 'Mon..Fri 08:00',
    'steps[1].hours[1].for': '10',
    'steps[1].hours[1].for_unit': 'hours',
    'steps[1].hours[1].tz': 'Europe/Riga',
    'steps[1].outside': 'skip',
  }
  t.is((await owner.post(`${base}/policies/new`, full)).status, 303)
  const row = await app.db('alert_policies').where({ project_id: team.project.id }).first('uuid', 'plan')
  const normal = { severity: 'info', repeat: null, hours: [], outside: 'wait' }
  const plan = {
    when: { failures: 2, of: 5, down_for: 120, successes: 3 },
    steps: [
      {
        ...normal,
        wait: 0,
        channels: null,
        people: [{ person: 'anna@example.org' }],
        own: true,
        repeat: { every: 3600, times: null },
      },
      {
        wait: 900,
        channels: [phone.uuid],
        people: [],
        own: false,
        severity: 'critical',
        repeat: { every: 600, times: 3 },
        hours: [{ every: 'Mon..Fri 08:00', for: 36_000, tz: 'Europe/Riga' }],
        outside: 'skip',
      },
    ],
    group: { checks: 30, within: 45 },
    flapping: { changes: 6, within: 3600 },
    ack_timeout: 14_400,
    fallback: { wait: 600, people: [{ person: 'boss@example.org' }], channels: [] },
    notify_ack: true,
  }
  t.deepEqual(row?.plan, plan)
  const path = `${base}/policies/${row?.uuid}`
  const { text } = await owner.get(path)
  t.regex(text, /anna@example\.org cannot be notified: not a member, or read-only\./)
  const shown = fieldsOf(text)
  t.is((await owner.post(path, shown)).status, 303)
  t.deepEqual((await app.db('alert_policies').where({ uuid: row?.uuid }).first('plan'))?.plan, plan)
})

test.serial('adding and removing steps without scripts keeps typed values', async (t) => {
  await setUp()
  const path = `${base}/policies/new`
  const more = await owner.post(path, { ...form, name: 'Typed <so>', do: 'add-step' })
  t.is(more.status, 200)
  t.regex(more.text, /value="Typed &lt;so/)
  t.is(fieldsOf(more.text).steps, '3')
  t.is(fieldsOf(more.text)['steps[2].wait'], '15')
  const hours = await owner.post(path, { ...form, do: 'add-hours-1' })
  t.is(fieldsOf(hours.text)['steps[1].hours[0].for'], '10')
  const fewer = fieldsOf((await owner.post(path, { ...form, do: 'remove-step-0' })).text)
  t.is(fewer.steps, '1')
  t.is(fewer['steps[0].wait'], '15')
  t.is(fewer['steps[0].severity'], 'critical')
  t.is(
    await app.db('alert_policies').where({ project_id: team.project.id }).first(),
    undefined,
    'the buttons save nothing',
  )
})

test.serial('every error of a policy is shown beside its field at once', async (t) => {
  await setUp()
  const path = `${base}/policies/new`
  const wrong = {
    ...form,
    name: '',
    position: 'first',
    'steps[0].repeat.every': 'soon',
    'steps[1].whom': 'chosen',
    'steps[1].wait': '9999999',
    'steps[1].hours': '1',
    'steps[1].hours[0].every': 'never <b',
    'steps[1].hours[0].for': '10',
    'steps[1].hours[0].for_unit': 'hours',
    'steps[1].hours[0].tz': 'Mars',
    'group.within': '11',
    'group.within_unit': 'minutes',
    'flapping.changes': '6',
  }
  const { status, text } = await owner.post(path, wrong)
  t.is(status, 400)
  const beside = [...text.matchAll(/class="field-error" id="([^"]+)-error"/g)].map(([, id]) => id).toSorted()
  t.deepEqual(beside, [
    'flapping.within',
    'group.within',
    'name',
    'position',
    'steps[0].repeat.every',
    'steps[1].channels',
    'steps[1].hours[0].every',
    'steps[1].hours[0].tz',
    'steps[1].wait',
  ])
  const kept = fieldsOf(text)
  t.is(kept.position, 'first')
  t.is(kept['steps[0].repeat.every'], 'soon')
  t.is(plain(kept['steps[1].hours[0].every'] ?? ''), 'never &lt;b')
  t.notRegex(text, /json validation error/)
})

test.serial('an incident is listed, acknowledged, commented and reported', async (t) => {
  await setUp()
  const check = await addCheck(owner, team, { name: 'db-backup', tags: 'prod' })
  await owner.post(`${base}/policies/new`, form)
  await fetch(`${app.url}/ping/${check}/fail`)
  const list = await eventually('the incident', async () => {
    const { text } = await owner.get(`${base}/incidents`)
    return text.includes('/incidents/') && text.includes('db-backup') && text
  })
  const path = /\/incidents\/[0-9a-f-]{36}/.exec(list)?.[0] ?? ''
  t.is((await owner.post(`${path}/ack`, { note: 'on <it>' }, path)).status, 303)
  await owner.post(`${path}/note`, { text: 'disk full' }, path)
  await owner.post(`${path}/report`, { report: 'It was the disk.' }, path)
  const { text } = await owner.get(path)
  t.regex(text, / Acknowledged by owner-\d+@example\.com\./)
  t.regex(text, /Acknowledged by owner-\d+@example\.com: on &lt;it>/)
  t.regex(text, /Note by owner-\d+@example\.com: disk full/)
  t.regex(text, /It was the disk\./)
  t.is((await owner.post(`${path}/unack`, {}, path)).status, 303)
  const incident = (await owner.get(path)).text
  t.notRegex(incident, / Acknowledged by owner-\d+@example\.com\./)
  t.true(incident.includes(`href="${base}/simulator?check=${check}"`))
  const page = (await owner.get(`/checks/${check}`)).text
  t.regex(page, /On call \(tag prod\): at once/)
  t.regex(page, />Notifications<\/a>/)
})

test.serial('a viewer cannot change incidents and policies, a stranger cannot see them', async (t) => {
  await setUp()
  const check = await addCheck(owner, team, { name: 'db-backup', tags: 'prod' })
  await owner.post(`${base}/policies/new`, form)
  await fetch(`${app.url}/ping/${check}/fail`)
  const incident = await eventually('the incident', async () => {
    const row = await app.deps.db('incidents').where({ project_id: team.project.id }).first('id')
    return row !== undefined && String(row.id)
  })
  const policy = await app.deps.db('alert_policies').where({ project_id: team.project.id }).first('uuid')
  const path = `/incidents/${incident}`
  const viewer = await join(app, team, 'read-only', `viewer${team.organisationId}@example.com`)
  const stranger = await join(app, await createTeam(app, 'elsewhere'), 'owner')
  for (const page of [`${base}/incidents`, `${base}/policies`, path]) {
    const shown = await viewer.get(page)
    t.is(shown.status, 200)
    t.false(shown.text.includes(check), 'viewers do not see the ping URL')
    t.is((await stranger.get(page)).status, 404)
  }
  const changes = [
    `${path}/ack`,
    `${path}/note`,
    `${path}/report`,
    `${base}/policies/new`,
    `${base}/policies/${policy?.uuid}`,
  ]
  for (const change of changes) {
    t.is((await viewer.post(change, form, '/account')).status, 403, change)
    t.is((await stranger.post(change, form, '/account')).status, 404, change)
  }
  t.is((await app.deps.db('incidents').where({ id: incident }).first('state'))?.state, 'alerting')
})

test.serial('an address may open acknowledgement links thirty times a minute', async (t) => {
  await setUp()
  const link = `${app.url}/a/AAAAAAAAAAAAAAAAAAAAAA`
  const answers: number[] = []
  while (answers.at(-1) !== 429 && answers.length < 100) answers.push((await fetch(link)).status)
  t.is(answers.at(-1), 429)
  t.true(answers.length > 30, `${answers.length}`)
  t.deepEqual([...new Set(answers)], [404, 429])
  await eventually('a refusal with a retry time', async () => {
    return (await fetch(link, { method: 'POST' })).headers.get('retry-after') // a try comes free every two seconds
  })
})
