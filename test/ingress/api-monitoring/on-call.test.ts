import test from 'ava'
import { IMPLICIT_PLAN } from '#shared/monitoring/alerting/policy.ts'
import { replaceAddress } from '#shared/monitoring/on-call/schedule-store.ts'
import { recordDueShifts } from '#shared/monitoring/operations/record-shifts.ts'
import { deleteMembership } from '#shared/tenancy/accounts/store.ts'
import { microsOfSeconds, toIsoSeconds, toSeconds } from '#shared/time.ts'
import { addDown, addMethod, notifyOf } from '../../support/personal.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addKey, addProject } from '../../support/projects.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { jsonOf, onCallTeam } from './on-call-team.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const DAY = 86_400
const inSeconds = (seconds: number) => toIsoSeconds(app.deps.now() + microsOfSeconds(seconds))
const unix = (offset: number) => Math.floor(toSeconds(app.deps.now())) + offset

test('a schedule is created, read, changed, listed and deleted', async (t) => {
  const { call, layer, roKey, address } = await onCallTeam(app, { anna: 'member', rita: 'read-only' })
  const made = await call('POST', '/schedules/', {
    name: 'Primary',
    tz: 'Europe/Berlin',
    holidays: ['2026-12-25'],
    layers: [layer(['anna', 'rita'], { rotation: { unit: 'day', on: ['mon', 'tue'] } }), layer([])],
  })
  t.is(made.status, 201, made.text)
  const { id, warnings, ...fields } = jsonOf(made)
  t.like(fields, { name: 'Primary', tz: 'Europe/Berlin', coverage: 'always', fallback: null, version: 1 })
  t.deepEqual(fields.layers[0].rotation, { unit: 'day', every: 1, on: ['mon', 'tue'] })
  const codes = warnings.map(({ code }: { code: string }) => code)
  t.deepEqual(codes.slice(0, 2), ['NOT_MEMBER', 'EMPTY_LAYER'])
  t.is(warnings[0].person, address('rita'))
  t.is((await call('POST', '/schedules/', { name: 'Primary', layers: [] })).status, 409)
  t.like(jsonOf(await call('POST', `/schedules/${id}`, { fallback: address('anna') })), {
    name: 'Primary',
    fallback: address('anna'),
    version: 2,
  })
  t.is(jsonOf(await call('GET', `/schedules/${id}`)).holidays[0], '2026-12-25')
  t.is(jsonOf(await call('GET', '/schedules/')).schedules.length, 1)
  t.is((await call('GET', '/schedules/', undefined, roKey)).status, 401)
  t.is((await call('DELETE', `/schedules/${id}`)).status, 200)
  t.is((await call('GET', `/schedules/${id}`)).status, 404)
})

const REFUSED: readonly (readonly [fields: object, error: string])[] = [
  [{ name: '' }, 'name must not be empty'],
  [{ tz: 'Mars' }, 'tz is not a valid timezone'],
  [{ holidays: ['2026-02-30'] }, 'holidays[0] must be a date such as 2026-12-25'],
  [{ layers: [{ people: ['anna'] }] }, 'layers[0].start is required'],
  [{ fallback: 'anna' }, 'fallback must be an e-mail address'],
  [{ coverage: 'sometimes' }, 'coverage must be one of always, none'],
  [{ coverage: [{ days: ['mon'], from: '9', to: '10:00' }] }, 'coverage[0].from must be a time such as 09:00'],
  [{ notices: { gaps: 1 } }, 'notices.gaps must be true or false'],
  [{ colour: 'red' }, 'colour is not a known member'],
]
const REFUSED_LAYERS: readonly (readonly [layer: object, error: string])[] = [
  [{ start: '2026-01-05 09:00' }, 'layers[0].start must be a local time such as 2026-01-05T09:00'],
  [{ people: ['x'] }, 'layers[0].people[0] must be an e-mail address'],
  [{ end: '2026-01-05T09:00' }, 'layers[0].end must be after start'],
  [{ rotation: { unit: 'month' } }, 'layers[0].rotation.unit must be one of hour, day, week'],
  [{ rotation: { unit: 'hour', every: 5 } }, 'layers[0].rotation.every must be one of 1, 2, 3, 4, 6, 8, 12'],
  [{ rotation: { unit: 'week', on: ['mon'] } }, 'layers[0].rotation.on is only possible with the unit day'],
  [{ rotation: { unit: 'day', on: ['tue'] } }, 'layers[0].rotation.on must contain mon, the day of start'],
  [{ hours: [{ days: [], from: '09:00', to: '10:00' }] }, 'layers[0].hours[0].days must not be empty'],
]

test('an invalid schedule is refused by the name of the first invalid member', async (t) => {
  const { call, layer } = await onCallTeam(app, {})
  for (const [fields, error] of REFUSED) {
    const answer = await call('POST', '/schedules/', { name: 'x', layers: [], ...fields })
    t.deepEqual([answer.status, jsonOf(answer)], [400, { error: `json validation error: ${error}` }])
  }
  for (const [fields, error] of REFUSED_LAYERS) {
    const answer = await call('POST', '/schedules/', { name: 'x', layers: [layer([], fields)] })
    t.deepEqual([answer.status, jsonOf(answer)], [400, { error: `json validation error: ${error}` }])
  }
})

test('the person on call is shown with address, name or coverage by key', async (t) => {
  const { call, layer, roKey, address } = await onCallTeam(app, { anna: 'responder', ben: 'owner' })
  const { id } = jsonOf(await call('POST', '/schedules/', { name: 'Primary', layers: [layer(['anna', 'ben'])] }))
  const of = async (path: string, key?: string) => jsonOf(await call('GET', path, undefined, key)).on_call[0]
  // As if the schedule had been created an hour ago.
  const hourAgo = app.db.raw("date_trunc('second', from_at) - interval '1 hour'")
  const own = app.db('schedules').where({ uuid: id }).select('id')
  const [shift] = await app.db('shifts').whereIn('schedule_id', own).update({ from_at: hourAgo }).returning('from_at')
  const now = await of('/')
  t.like(now, { schedule: id, name: 'Primary', covered: true, source: 'layer 1' })
  t.is(Date.parse(now.since), Number(shift.from_at), 'the begin of the shift, not the time of the request')
  t.true([address('anna'), address('ben')].includes(now.person.address))
  t.not(now.next.address, now.person.address)
  t.like(await of('/', roKey), { person: null, covered: true, next: null })
  await call('POST', `/schedules/${id}`, { show_names: true })
  t.deepEqual((await of('/', roKey)).person, { name: now.person.name })
  const later = await of(`/?at=${unix(7 * DAY)}`)
  t.like(later, { person: now.next, since: now.until, next: now.person })
  t.is((await call('GET', `/?at=${unix(401 * DAY)}`)).status, 400)
})

test('a shared schedule is read, but not changed, by other projects of the organisation', async (t) => {
  const { call, layer, project } = await onCallTeam(app, { anna: 'member' })
  const [other] = await app
    .db('projects')
    .insert({ organisation_id: project.organisationId, name: 'other' })
    .returning(['id'])
  const otherKey = await addKey(app.deps, Number(other?.id), 'rw')
  const { id } = jsonOf(await call('POST', '/schedules/', { name: 'Primary', layers: [layer(['anna'])] }))
  t.is((await call('GET', `/schedules/${id}`, undefined, otherKey)).status, 404)
  await call('POST', `/schedules/${id}`, { shared: true })
  t.is((await call('GET', `/schedules/${id}`, undefined, otherKey)).status, 200)
  t.is(jsonOf(await call('GET', '/', undefined, otherKey)).on_call[0].schedule, id)
  t.is((await call('POST', `/schedules/${id}`, { name: 'x' }, otherKey)).status, 404)
  t.is((await call('POST', `/schedules/${id}/overrides/`, { person: null, end: inSeconds(DAY) }, otherKey)).status, 404)
})

test('overrides apply in their order, replace one person only, and can be deleted', async (t) => {
  const { call, layer, address } = await onCallTeam(app, { anna: 'member', ben: 'member', carl: 'member' })
  const { id } = jsonOf(await call('POST', '/schedules/', { name: 'Primary', layers: [layer(['anna'])] }))
  const add = (body: object) => call('POST', `/schedules/${id}/overrides/`, body)
  const nowPerson = async () => jsonOf(await call('GET', '/')).on_call[0].person?.address ?? null
  t.is((await add({ person: address('carl'), replaces: address('ben'), end: inSeconds(DAY) })).status, 201)
  t.is(await nowPerson(), address('anna'))
  const made = jsonOf(await add({ person: address('ben'), start: inSeconds(-DAY), end: inSeconds(DAY), note: 'sick' }))
  t.like(made, { schedule: id, number: 2, replaces: null, note: 'sick' })
  t.true(made.start > inSeconds(-60), 'a start in the past becomes now')
  t.is(await nowPerson(), address('ben'), 'the first override applies before the second')
  t.is(jsonOf(await call('GET', `/schedules/${id}/overrides/`)).overrides.length, 2)
  const past = await add({ person: null, start: inSeconds(-DAY), end: inSeconds(-60) })
  t.deepEqual([past.status, jsonOf(past)], [400, { error: 'json validation error: end is in the past' }])
  t.is((await add({ end: inSeconds(DAY) })).status, 400)
  t.is((await add({ person: null, end: inSeconds(30) })).status, 400)
  t.is((await call('GET', `/overrides/${made.id}`)).status, 200)
  t.is((await call('DELETE', `/overrides/${made.id}`)).status, 200)
  t.is(await nowPerson(), address('anna'))
  t.is((await call('DELETE', `/overrides/${made.id}`)).status, 404)
})

test('taking over lasts until the end of the shift and is audited', async (t) => {
  const { call, layer, address, project } = await onCallTeam(app, { anna: 'member', ben: 'member' })
  const { id } = jsonOf(
    await call('POST', '/schedules/', { name: 'Primary', layers: [layer(['anna', 'anna', 'ben'])] }),
  )
  const before = jsonOf(await call('GET', '/')).on_call[0]
  const [person] = [address('anna'), address('ben')].filter((one) => one !== before.person.address)
  t.is((await call('POST', `/schedules/${id}/take`, { person })).status, 201)
  const after = jsonOf(await call('GET', '/')).on_call[0]
  t.is(after.person.address, person)
  t.is(after.source, 'override 1')
  const actions = await app
    .db('audit_log')
    .where({ organisation_id: project.organisationId })
    .orderBy('id')
    .pluck('action')
  t.deepEqual(actions, ['schedule.created', 'schedule.taken-over'])
  const alone = jsonOf(await call('POST', '/schedules/', { name: 'Alone', layers: [layer(['anna'])] }))
  t.is((await call('POST', `/schedules/${alone.id}/take`, { person })).status, 400, 'a shift without an end')
})

test('the preview compares a change with the stored schedule and stores nothing', async (t) => {
  const { call, layer, address } = await onCallTeam(app, { anna: 'member', ben: 'member' })
  const { id } = jsonOf(await call('POST', '/schedules/', { name: 'Primary', layers: [layer(['anna'])] }))
  const answer = await call('POST', '/schedules/preview', { id, schedule: { layers: [layer(['ben'])] } })
  t.is(answer.status, 200, answer.text)
  const { shifts, changes } = jsonOf(answer)
  t.is(shifts[0].person.address, address('ben'))
  t.deepEqual(
    changes.map((change: { person: { address: string } }) => change.person.address),
    [address('anna'), address('ben')],
  )
  t.is(jsonOf(await call('GET', `/schedules/${id}`)).layers[0].people[0], address('anna'))
})

test('the past is recorded and does not change with the schedule, its members or their addresses', async (t) => {
  const { call, layer, address, ids, project } = await onCallTeam(app, { anna: 'member', ben: 'member' })
  const start = new Date(unix(3600 - 3 * DAY) * 1000).toISOString().slice(0, 16)
  const rotation = { unit: 'day' }
  const { id } = jsonOf(
    await call('POST', '/schedules/', { name: 'Primary', layers: [layer(['anna', 'ben'], { start, rotation })] }),
  )
  const first = jsonOf(await call('GET', '/')).on_call[0]
  // As if the sweeper had paused since the schedule was created.
  const [{ created }] = (
    await app.db.raw(
      `UPDATE schedules SET next_change_at = now() - interval '50 hours' WHERE uuid = ? RETURNING next_change_at AS created`,
      [id],
    )
  ).rows
  await app
    .db('shifts')
    .delete()
    .whereIn('schedule_id', app.db('schedules').where({ uuid: id }).select('id'))
  await recordDueShifts(app.db, app.deps.now())
  const path = `/schedules/${id}/shifts?from=${unix(-60 * 3600)}&until=${unix(0)}`
  const recorded = jsonOf(await call('GET', path)).shifts
  t.is(recorded.length, 3)
  t.is(Date.parse(recorded[0].from), Math.floor(created.getTime() / 1000) * 1000)
  t.is(new Date(recorded[1].from).toISOString().slice(11, 16), start.slice(11))
  t.is(recorded.at(-1).person.address, first.person.address)

  const pastPath = `/schedules/${id}/shifts?from=${unix(-60 * 3600)}&until=${unix(-DAY)}`
  const past = () => call('GET', pastPath)
  const before = (await past()).text
  await call('POST', `/schedules/${id}`, { layers: [layer(['anna'])] })
  t.is((await past()).text, before)
  t.is(jsonOf(await call('GET', '/')).on_call[0].person.address, address('anna'))

  await deleteMembership(app.db, project.organisationId, ids.anna ?? 0)
  await recordDueShifts(app.db, app.deps.now())
  t.is(jsonOf(await call('GET', '/')).on_call[0].covered, false)
  t.is((await past()).text.replaceAll(/"name":"\w*"/g, ''), before.replaceAll(/"name":"\w*"/g, ''))

  await call('POST', `/schedules/${id}`, { layers: [layer(['ben'])] })
  await app.db.transaction((tx) => replaceAddress(tx, ids.ben ?? 0, address('ben'), address('benjamin')))
  const { layers } = jsonOf(await call('GET', `/schedules/${id}`))
  t.deepEqual(layers[0].people, [address('benjamin')])
  t.is(
    jsonOf(await past()).shifts.filter(
      (shift: { person: { address: string } }) => shift.person.address === address('ben'),
    ).length,
    0,
  )
})

test('the list of people shows who can be notified by which kinds, and a schedule warns about others', async (t) => {
  const { api, call, layer, address, ids, project } = await onCallTeam(app, { anna: 'member', ben: 'member' })
  const reach = async () => jsonOf(await call('GET', '/people/')).people
  const methodId = await addMethod(app.deps, ids.anna ?? 0, 'ntfy', { topic: 'a', url: 'http://127.0.0.1:9' })
  t.like(await reach(), [
    { address: address('anna'), reachable: true, kinds: ['ntfy'] },
    { address: address('ben'), reachable: false, kinds: [] },
  ])
  const { id, warnings } = jsonOf(
    await call('POST', '/schedules/', { name: 'Primary', layers: [layer(['anna', 'ben'])] }),
  )
  t.deepEqual(warnings, [{ code: 'UNREACHABLE', person: address('ben') }, { code: 'UNUSED' }])
  const [first] = IMPLICIT_PLAN.steps
  const steps = [
    { ...first, people: [{ schedule: id }] },
    { ...first, wait: 300 },
  ]
  const plan = JSON.stringify({ ...IMPLICIT_PLAN, steps })
  await app.db('alert_policies').insert({ project_id: project.id, name: 'Duty', match: '', plan })
  const rule = { user_id: ids.anna, list: 'critical', after_seconds: 600, method_id: methodId }
  await app.db('contact_rules').insert(rule)
  const slow = { code: 'SLOW_RULES', person: address('anna'), step: 1, policy: 'Duty' }
  // Warnings follow the order of shifts, which depends on the day.
  const warningsOf = async (...key: string[]) =>
    jsonOf(await call('GET', `/schedules/${id}`, undefined, ...key)).warnings.toSorted(
      (one: { code: string }, next: { code: string }) => (one.code < next.code ? -1 : 1),
    )
  t.deepEqual(await warningsOf(), [slow, { code: 'UNREACHABLE', person: address('ben') }])
  const other = await addProject(app.deps)
  await app.db('projects').where({ id: other.project.id }).update({ organisation_id: project.organisationId })
  await app.db('alert_policies').insert({ project_id: other.project.id, name: 'Secret', match: '', plan })
  await call('POST', `/schedules/${id}`, { shared: true })
  t.false((await call('GET', '/schedules/')).text.includes('Secret'), 'the key does not see the other project')
  t.deepEqual(await warningsOf(other.rwKey), [
    { ...slow, policy: 'Secret' },
    { code: 'UNREACHABLE', person: address('ben') },
  ])
  const person = (name: string) => [{ person: address(name) }]
  const named = { name: 'Named', steps: [{ people: person('anna') }, { wait: 300, people: person('ben') }] }
  const made = jsonOf(await api('POST', '/policies/', named))
  const warned = [
    { code: 'UNREACHABLE', person: address('ben') },
    { ...slow, policy: 'Named' },
  ]
  t.deepEqual(made.warnings, warned)
  t.deepEqual(jsonOf(await api('GET', `/policies/${made.id}`)).warnings, warned)
  t.deepEqual(jsonOf(await api('POST', `/policies/${made.id}`, { steps: [{}] })).warnings, [])
  t.true(jsonOf(await api('GET', '/policies/')).policies.every((one: { warnings: [] }) => one.warnings.length === 0))
  await app.db('contact_rules').where(rule).delete()
  await notifyOf(app.deps, { userId: ids.anna ?? 0, methodId }, [await addDown(app.deps, project.id, 'db')])
  const midnight = new Date(Math.floor(Date.now() / 86_400_000 - 1) * 86_400_000)
  await app.db('notifications').where({ method_id: methodId }).update({ state: 'delivered', created_at: midnight })
  await app
    .db('shifts')
    .where({ schedule_id: app.db('schedules').where({ uuid: id }).select('id') })
    .update({
      person: address('anna'),
      from_at: new Date(Date.now() - 2 * 86_400_000),
    })
  const [row] = jsonOf(await call('GET', `/schedules/${id}/report`)).people
  t.like(row, { notifications: 1, night_notifications: 1 })
  await app.db('contact_rules').insert({ user_id: ids.anna, list: 'critical', after_seconds: 0, method_id: methodId })
  await app.db('contact_methods').where({ id: methodId }).update({ disabled_at: new Date() })
  t.like((await reach())[0], { reachable: false, kinds: [] })
})
