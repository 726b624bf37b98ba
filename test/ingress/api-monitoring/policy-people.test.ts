import test from 'ava'
import { replaceAddress } from '#shared/monitoring/operations/replace-address.ts'
import { insertProject } from '#shared/monitoring/projects/store.ts'
import { addMethod } from '../../support/personal.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addKey, addProject } from '../../support/projects.ts'
import { send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { jsonOf, onCallTeam } from './on-call-team.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const callWith = (key: string) => (method: string, path: string, body?: unknown) =>
  send(app.url, `/api/v3${path}`, {
    method,
    headers: { 'X-Api-Key': key },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

test('a step names people and schedules, which stay while a policy uses them', async (t) => {
  const team = await onCallTeam(app, { anna: 'member', ben: 'responder' })
  const other = await insertProject(app.db, { organisationId: team.project.organisationId, name: 'other' })
  const ofOther = callWith(await addKey(app.deps, other.id, 'rw'))
  const call = callWith(team.rwKey)
  const made = await call('POST', '/on-call/schedules/', { name: 'Primary', layers: [team.layer(['anna'])] })
  const { id: schedule } = jsonOf(made)
  const steps = [
    { people: [{ schedule }, { person: team.address('ben').toUpperCase() }] },
    { own: true, people: [] },
    { channels: '', own: true },
  ]
  const fallback = { wait: 900, people: [{ person: team.address('anna') }] }
  t.is((await ofOther('POST', '/policies/', { name: 'Theirs', steps })).status, 400, 'it is not shared')
  t.is((await call('POST', `/on-call/schedules/${schedule}`, { shared: true })).status, 200)
  const { rwKey: strange } = await addProject(app.deps)
  t.is((await callWith(strange)('POST', '/policies/', { name: 'Strange', steps })).status, 400)

  const created = await ofOther('POST', '/policies/', { name: 'Theirs', steps, fallback, notify_ack: true })
  t.is(created.status, 201, created.text)
  const policy = jsonOf(created)
  t.deepEqual(policy.steps[0].people, [{ schedule }, { person: team.address('ben') }])
  t.deepEqual(
    policy.steps.map(({ own, channels }: { own: boolean; channels?: string }) => [own, channels]),
    [
      [false, undefined],
      [true, undefined],
      [true, ''],
    ],
  )
  t.deepEqual(policy.fallback, { ...fallback, channels: '' })
  t.true(policy.notify_ack)

  const version = async () => Number((await app.db('projects').where({ id: other.id }).first())?.alerting_version)
  const before = await version()
  const shift = { person: team.address('ben'), until: new Date(Date.now() + 3_600_000).toISOString().slice(0, 19) }
  const taken = await call('POST', `/on-call/schedules/${schedule}/take`, { ...shift, until: `${shift.until}Z` })
  t.is(taken.status, 201, taken.text)
  t.true((await version()) > before, 'a shift reevaluates the incidents of a project that uses the schedule')

  await replaceAddress(app.db, team.ids.ben ?? 0, team.address('ben'), team.address('benjamin'))
  const renamed = jsonOf(await ofOther('GET', `/policies/${policy.id}`))
  t.deepEqual(renamed.steps[0].people[1], { person: team.address('benjamin') })

  const refused = await call('DELETE', `/on-call/schedules/${schedule}`)
  t.deepEqual([refused.status, refused.text], [409, 'is used by 1 policy of another project'])
  t.is((await ofOther('POST', '/policies/', { name: 'Their second', steps })).status, 201)
  const refusal = async () => (await call('DELETE', `/on-call/schedules/${schedule}`)).text
  t.is(await refusal(), 'is used by 2 policies of other projects')
  const ours = jsonOf(await call('POST', '/policies/', { name: 'Ours', steps }))
  t.is(await refusal(), 'is used by policy "Ours"', 'only names that the key may read')
  t.is((await call('DELETE', `/policies/${ours.id}`)).status, 200)
  for (const { id } of jsonOf(await ofOther('GET', '/policies/')).policies)
    t.is((await ofOther('POST', `/policies/${id}`, { steps: [{}] })).status, 200)
  t.is((await call('DELETE', `/on-call/schedules/${schedule}`)).status, 200)
})

test('a simulation notifies persons by recorded shifts, or by a draft of a schedule', async (t) => {
  const team = await onCallTeam(app, { anna: 'member', ben: 'member', carl: 'member' })
  const call = callWith(team.rwKey)
  for (const name of ['anna', 'ben'])
    await addMethod(app.deps, team.ids[name] ?? 0, 'gotify', { url: 'http://127.0.0.1:9', token: name })
  const { id: schedule } = jsonOf(
    await call('POST', '/on-call/schedules/', { name: 'Primary', layers: [team.layer(['anna'])] }),
  )
  const start = Math.floor(Date.now() / 1000) * 1000 - 7_200_000
  const at = (minutes: number) => `${new Date(start + minutes * 60_000).toISOString().slice(0, 19)}+00:00`
  const { id } = await app.db('schedules').where({ uuid: schedule }).first('id')
  const shift = { schedule_id: id, person: team.address('ben'), source: 'layer 1', from_at: at(0), until_at: at(20) }
  await app.db('shifts').insert(shift)
  const draft = {
    settings: { name: 'web' },
    policy: { steps: [{ people: [{ schedule }] }] },
    events: [
      { at: at(0), kind: 'success' },
      { at: at(10), kind: 'fail' },
      { at: at(30), kind: 'success' },
      { at: at(40), kind: 'fail' },
    ],
    from: at(0),
    until: at(60),
  }
  const simulated = await call('POST', '/simulations/', draft)
  t.is(simulated.status, 200, simulated.text)
  const { messages, decisions, assumed } = jsonOf(simulated)
  const toBen = { channel: null, person: team.address('ben'), kind: 'gotify' }
  t.deepEqual(messages, [
    { at: at(10), ...toBen, schedule: 'Primary', after: 0, what: 'first', text: 'DOWN | web' },
    { at: at(30), ...toBen, schedule: null, after: null, what: 'recovery', text: 'UP | web' },
  ])
  t.true(assumed.includes('Contact methods and rules are as they are now.'))
  t.deepEqual(decisions[0].people[0].text, `${team.address('ben')}: Notified: the conditions of the policy were met.`)
  t.like(decisions.at(-1), { reason: 'LAST_RESORT' }, 'no person was on call')

  const drafted = jsonOf(await call('POST', '/simulations/', { ...draft, schedules: [{ id: schedule, tz: 'UTC' }] }))
  t.deepEqual(
    drafted.messages.map((message: { at: string; person: string }) => [message.at, message.person]),
    [at(10), at(30), at(40)].map((time) => [time, team.address('anna')]),
    'a draft replaces the recorded shifts',
  )
  const unreachable = [{ id: schedule, layers: [team.layer(['carl'])] }]
  const silent = jsonOf(await call('POST', '/simulations/', { ...draft, schedules: unreachable }))
  t.deepEqual([silent.messages, silent.decisions[0].people[0].reason], [[], 'UNREACHABLE'])

  const refused = async (body: object) => jsonOf(await call('POST', '/simulations/', { ...draft, ...body })).error
  t.is(
    await refused({ schedules: [{ id: '00000000-0000-4000-8000-000000000001' }] }),
    'json validation error: schedules[0].id must be the id of a schedule of the project',
  )
  t.regex(await refused({ schedules: [{ id: schedule, tz: 'Mars' }] }), /schedules\[0\]: .*tz/)
})
