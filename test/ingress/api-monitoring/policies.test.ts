import test from 'ava'
import { z } from 'zod'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addIntegration, addProject } from '../../support/projects.ts'
import { type Answer, jsonOf as anyJson, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const jsonOf = (answer: Answer) => z.record(z.string(), z.unknown()).parse(anyJson(answer))

async function someone() {
  const { project, rwKey, roKey } = await addProject(app.deps)
  const call = (method: string, path: string, body?: unknown, key = rwKey) =>
    send(app.url, `/api/v3${path}`, {
      method,
      headers: { 'X-Api-Key': key },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return { project, roKey, call, post: (path: string, body: unknown) => call('POST', path, body) }
}

const FULL = {
  name: 'On call',
  match: 'prod',
  position: 1,
  when: { failures: 2, of: 5, down_for: 120, successes: 1 },
  steps: [
    { wait: 0, repeat: { every: 3600 } },
    {
      wait: 900,
      channels: 'Phone Anna',
      severity: 'critical',
      repeat: { every: 600, times: 3 },
      hours: [{ every: 'Mon..Fri 08:00', for: 36_000, tz: 'Europe/Riga' }],
      outside: 'skip',
    },
    { wait: 1800, channels: '*' },
  ],
  group: { checks: 20, within: 0 },
  flapping: { changes: 6, within: 3600 },
  ack_timeout: 14_400,
  fallback: null,
  notify_ack: false,
}

test('a policy is created, read, changed member by member, reset by null, listed and deleted', async (t) => {
  const { project, call, post } = await someone()
  const phone = await addIntegration(app.deps, project.id, 'Phone Anna')
  const created = await post('/policies/', FULL)
  t.is(created.status, 201)
  const { id, ...shown } = jsonOf(created)
  const normal = { people: [], own: false, severity: 'info', repeat: null, hours: [], outside: 'wait' }
  t.deepEqual(shown, {
    ...FULL,
    warnings: [],
    steps: [
      { ...normal, wait: 0, own: true, repeat: { every: 3600, times: null } },
      { ...normal, ...FULL.steps[1], channels: phone.uuid },
      { ...normal, wait: 1800, channels: phone.uuid },
    ],
  })
  t.deepEqual(jsonOf(await call('GET', `/policies/${id}`)), jsonOf(created))
  const changed = jsonOf(await post(`/policies/${id}`, { name: 'Night', flapping: null, when: null, position: null }))
  t.like(changed, { name: 'Night', flapping: null, position: 0, match: 'prod', ack_timeout: 14_400 })
  t.deepEqual(changed.when, { failures: 1, of: null, down_for: 0, successes: 1 })
  t.deepEqual(jsonOf(await call('GET', '/policies/')), { policies: [changed], next: null })
  t.deepEqual(jsonOf(await call('DELETE', `/policies/${id}`)), changed)
  t.is((await call('GET', `/policies/${id}`)).status, 404)
  t.is((await call('DELETE', `/policies/${id}`)).status, 404)
  const versions = await app.deps.db('projects').where({ id: project.id }).first('alerting_version')
  t.is(Number(versions?.alerting_version), 3, 'each change lets alerters forget what they remember')
})

const refusals: readonly (readonly [unknown, string])[] = [
  [{}, 'name is required'],
  [{ name: 1 }, 'name must be a string'],
  [{ name: 'x'.repeat(101) }, 'name must have at most 100 characters'],
  [{ name: 'x', match: [] }, 'match must be a string'],
  [{ name: 'x', position: 1001 }, 'position must be between 0 and 1000'],
  [{ name: 'x', position: -1 }, 'position must be between 0 and 1000'],
  [{ name: 'x', position: '1' }, 'position must be a whole number'],
  [{ name: 'x', position: 1.5 }, 'position must be a whole number'],
  [{ name: 'x', when: [] }, 'when must be an object'],
  [{ name: 'x', when: { failures: 0 } }, 'when.failures must be between 1 and 20'],
  [{ name: 'x', when: { failures: 3, of: 2 } }, 'when.of must be between 3 and 20'],
  [{ name: 'x', when: { downfor: 2 } }, 'when.downfor is not a known member'],
  [{ name: 'x' }, 'steps is required'],
  [{ name: 'x', steps: {} }, 'steps must be an array'],
  [{ name: 'x', steps: Array(11).fill({}) }, 'steps must have at most 10 elements'],
  [{ name: 'x', steps: [1] }, 'steps[0] must be an object'],
  [{ name: 'x', steps: [{}, { wait: 604_801 }] }, 'steps[1].wait must be between 0 and 604800 seconds'],
  [{ name: 'x', steps: [{ severity: 'bad' }] }, 'steps[0].severity must be one of info, warning, critical'],
  [{ name: 'x', steps: [{ repeat: {} }] }, 'steps[0].repeat.every is required'],
  [{ name: 'x', steps: [{ repeat: { every: 59 } }] }, 'steps[0].repeat.every must be between 60 and 604800 seconds'],
  [
    { name: 'x', steps: [{ hours: [{ every: 'never', for: 60 }] }] },
    'steps[0].hours[0].every is not a valid cron or OnCalendar expression',
  ],
  [{ name: 'x', steps: [{ hours: [{ every: '0 8 * * *' }] }] }, 'steps[0].hours[0].for is required'],
  [
    { name: 'x', steps: [{ hours: [{ every: '0 8 * * *', for: 60, tz: 'Mars' }] }] },
    'steps[0].hours[0].tz is not a valid timezone',
  ],
  [{ name: 'x', steps: [{ reapet: {} }] }, 'steps[0].reapet is not a known member'],
  [{ name: 'x', steps: [{}], group: { within: 601 } }, 'group.within must be between 0 and 600 seconds'],
  [{ name: 'x', steps: [{}], flapping: { changes: 3 } }, 'flapping.within is required'],
  [{ name: 'x', steps: [{}], ack_timeout: 299 }, 'ack_timeout must be between 300 and 604800 seconds'],
  [{ name: 'x', steps: [{ people: Array(11).fill({}) }] }, 'steps[0].people must have at most 10 elements'],
  [{ name: 'x', steps: [{ people: [{ person: 'Anna' }] }] }, 'steps[0].people[0].person must be an e-mail address'],
  [
    { name: 'x', steps: [{ people: [{ schedule: 'f00d0000-0000-4000-8000-000000000001' }] }] },
    'steps[0].people[0].schedule must be the id of a schedule of the project or of a shared one',
  ],
  [{ name: 'x', steps: [{ people: [{ team: 'x' }] }] }, 'steps[0].people[0].team is not a known member'],
  [{ name: 'x', steps: [{ own: 1 }] }, 'steps[0].own must be true or false'],
  [{ name: 'x', steps: [{}], fallback: { wait: 59 } }, 'fallback.wait must be between 60 and 86400 seconds'],
  [{ name: 'x', steps: [{}], fallback: { wait: 60 } }, 'fallback must have people or channels'],
  [{ name: 'x', steps: [{}], notify_ack: 'yes' }, 'notify_ack must be true or false'],
  [{ name: 'x', steps: [{}], reapet: 1 }, 'reapet is not a known member'],
  [{ name: 'x', reapet: 1, position: 'y', when: 7 }, 'position must be a whole number'],
]

test('the first thing that is wrong is named, in the order of the table', async (t) => {
  const { post } = await someone()
  for (const [body, text] of refusals) {
    const answer = await post('/policies/', body)
    t.deepEqual([answer.status, jsonOf(answer)], [400, { error: `json validation error: ${text}` }])
  }
  for (const [integrations, error] of [
    ['unknown', 'invalid channel identifier: unknown'],
    ['a,,b', 'invalid channel identifier: a'],
    [',', 'empty channel identifier'],
  ]) {
    t.deepEqual(jsonOf(await post('/policies/', { name: 'x', steps: [{ channels: integrations }] })), { error })
  }
})

test('a project has at most 50 policies', async (t) => {
  const { post } = await someone()
  const answers = []
  for (let n = 0; n < 51; n++) answers.push((await post('/policies/', { name: `${n}`, steps: [{}] })).status)
  t.deepEqual(answers, [...Array(50).fill(201), 403])
})

test("a check names its policy and severity; others' policies are not found", async (t) => {
  const { project, call, post } = await someone()
  const other = await someone()
  const check = await addCheck(app.deps, project.id)
  const FREE = {
    parents: [],
    parents_mode: 'any',
    run: null,
    sources: null,
    ping_auth: null,
    previews: null,
    filter_json: null,
    filter_else: null,
    early: 0,
  }
  const path = `/checks/${check.uuid}/rules`
  t.deepEqual(jsonOf(await call('GET', path)), { policy: null, severity: 'critical', ...FREE })
  const { id } = jsonOf(await post('/policies/', { name: 'x', steps: [{}] }))
  t.deepEqual(jsonOf(await post(path, { policy: id })), { policy: id, severity: 'critical', ...FREE })
  t.deepEqual(jsonOf(await post(path, { severity: 'warning' })), { policy: id, severity: 'warning', ...FREE })
  t.deepEqual(jsonOf(await post(path, { policy: null, severity: null })), {
    policy: null,
    severity: 'critical',
    ...FREE,
  })
  t.deepEqual(jsonOf(await post(path, { severity: 'bad' })), {
    error: 'json validation error: severity must be one of info, warning, critical',
  })
  t.deepEqual(jsonOf(await post(path, { polcy: id })), { error: 'json validation error: polcy is not a known member' })
  const foreign = jsonOf(await other.post('/policies/', { name: 'theirs', steps: [{}] }))
  t.is((await post(path, { policy: foreign.id })).status, 404)
  t.is((await call('GET', `/policies/${foreign.id}`)).status, 404)
  t.is((await post(`/policies/${foreign.id}`, { name: 'mine' })).status, 404)
  t.is((await other.call('GET', path)).status, 403)
  await call('DELETE', `/policies/${id}`)
  t.deepEqual(jsonOf(await call('GET', path)), { policy: null, severity: 'critical', ...FREE })
})

test('no answer for checks gains a member', async (t) => {
  const { project, call, post } = await someone()
  const check = await addCheck(app.deps, project.id)
  const before = jsonOf(await call('GET', `/checks/${check.uuid}`))
  await post('/policies/', { name: 'x', match: '*', steps: [{}] })
  await post(`/checks/${check.uuid}/rules`, { severity: 'info' })
  t.deepEqual(jsonOf(await call('GET', `/checks/${check.uuid}`)), before)
})
