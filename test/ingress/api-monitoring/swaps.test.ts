import test from 'ava'
import { type Micros, microsOfSeconds, toIsoSeconds, toSeconds } from '#shared/time.ts'
import { addIncident } from '../../support/incidents.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck } from '../../support/projects.ts'
import { send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { jsonOf, onCallTeam } from './on-call-team.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const HOUR = 3600
const later = (hours: number): Micros => app.deps.now() + microsOfSeconds(hours * HOUR)
const span = (from: number, until: number) => ({ start: toIsoSeconds(later(from)), end: toIsoSeconds(later(until)) })

async function setUp() {
  const team = await onCallTeam(app, { anna: 'member', ben: 'member', carl: 'responder', rita: 'read-only' })
  const { call, layer, address } = team
  const { id } = jsonOf(await call('POST', '/schedules/', { name: 'Primary', layers: [layer(['anna'])] }))
  const offer = (body: object) => call('POST', `/schedules/${id}/swaps/`, { from: address('anna'), ...body })
  const personAt = async (hours: number) => {
    const at = Math.floor(toSeconds(later(hours)))
    return jsonOf(await call('GET', `/?at=${at}`)).on_call[0].person.address
  }
  return { ...team, id, offer, personAt }
}

test('a swap is taken, follows changes of the schedule, is released and cancelled', async (t) => {
  const { call, layer, address, id, offer, personAt } = await setUp()
  const made = await offer({ ...span(2, 4), back: span(6, 8), note: 'dentist' })
  t.is(made.status, 201, made.text)
  const swap = jsonOf(made)
  t.like(swap, { state: 'open', from: address('anna'), to: null, taker: null, note: 'dentist' })
  const act = (what: string, body: object = {}) => call('POST', `/swaps/${swap.id}/${what}`, body)
  t.is((await act('take', { person: address('anna') })).status, 400, 'the requester')
  t.is((await act('take', { person: address('rita') })).status, 400, 'without the right')
  t.like(jsonOf(await act('take', { person: address('ben') })), { state: 'taken', taker: address('ben') })
  const again = await act('take', { person: address('carl') })
  t.deepEqual([again.status, again.text], [409, 'swap is not open'])
  t.is(await personAt(3), address('ben'))
  await call('POST', `/schedules/${id}`, { layers: [layer(['carl'])] })
  t.is(await personAt(3), address('carl'), 'only the time of the requester')
  await call('POST', `/schedules/${id}`, { layers: [layer(['anna'])] })
  t.like(jsonOf(await act('release')), { state: 'open', taker: null })
  t.is(await personAt(3), address('anna'))
  await act('take', { person: address('carl') })
  t.like(jsonOf(await act('cancel')), { state: 'cancelled' })
  t.is(await personAt(3), address('anna'))
  t.is((await act('cancel')).status, 409)
  t.is(jsonOf(await call('GET', `/schedules/${id}/swaps/`)).swaps[0].state, 'cancelled')
})

test('a swap back replaces the taker, and only the named person may take a directed swap', async (t) => {
  const { call, layer, address, id, offer, personAt } = await setUp()
  await call('POST', `/schedules/${id}`, { layers: [layer(['anna'], { end: localTime(5) }), layer(['ben'])] })
  const swap = jsonOf(await offer({ to: address('ben'), ...span(2, 4), back: span(6, 8) }))
  t.is((await call('POST', `/swaps/${swap.id}/take`, { person: address('carl') })).status, 400)
  t.is((await call('POST', `/swaps/${swap.id}/take`, { person: address('ben') })).status, 200)
  t.deepEqual(
    [await personAt(1), await personAt(3), await personAt(7)],
    [address('anna'), address('ben'), address('anna')],
  )
})

const localTime = (hours: number) => toIsoSeconds(later(hours)).slice(0, 16)

test('overlapping, past and expired swaps are refused', async (t) => {
  const { call, offer, address } = await setUp()
  const first = jsonOf(await offer(span(2, 4)))
  const overlapping = await offer(span(3, 5))
  t.deepEqual([overlapping.status, overlapping.text], [409, 'overlaps an open swap'])
  t.is((await offer(span(4, 5))).status, 201)
  t.is((await offer(span(-1, 1))).status, 400)
  await app
    .db('swaps')
    .where({ uuid: first.id })
    .update({ starts_at: app.db.raw("now() - interval '1 second'") })
  const late = await call('POST', `/swaps/${first.id}/take`, { person: address('ben') })
  t.deepEqual([late.status, late.text], [409, 'swap is not open'])
})

test('the report sums recorded shifts by person, night, weekend and holiday, and resolved incidents', async (t) => {
  const { call, id, address, rwKey, project } = await setUp()
  const schedule = await app.db('schedules').where({ uuid: id }).first('id')
  await call('POST', `/schedules/${id}`, { tz: 'Europe/Berlin', holidays: ['2026-04-03'] })
  // Thursday 20:00 to Saturday 08:00 in Berlin, with a holiday on Friday.
  await app.db('shifts').insert({
    schedule_id: schedule?.id,
    person: address('ben'),
    source: 'layer 1',
    from_at: '2026-04-02T18:00:00Z',
    until_at: '2026-04-04T06:00:00Z',
  })
  const check = await addCheck(app.deps, project.id, {})
  for (const [hour, kinds] of [
    ['01', ['ack', 'snooze']],
    ['02', ['ack']],
    ['03', ['ack', 'unack']],
  ] as const) {
    const down = `2026-04-03T${hour}:00:00Z`
    const columns = { state: 'resolved', down_at: down, resolved_at: `2026-04-03T${hour}:30:00Z` }
    const incident_id = await addIncident(app.db, { projectId: project.id, checkId: check.id }, columns)
    const events = kinds.map((kind, n) => ({ kind, at: `2026-04-03T${hour}:0${n + Number(hour)}:00Z` }))
    await app
      .db('incident_events')
      .insert(events.map((event) => ({ ...event, incident_id, actor_name: address('ben'), via: 'page', text: '' })))
  }
  const query = `from=${Date.parse('2026-04-01T00:00Z') / 1000}&until=${Date.parse('2026-05-01T00:00Z') / 1000}`
  const { people } = jsonOf(await call('GET', `/schedules/${id}/report?${query}`))
  const sums = { seconds: 36 * HOUR, night: 16 * HOUR, weekend: 8 * HOUR, holiday: 24 * HOUR, shifts: 1 }
  const person = { name: 'ben', address: address('ben') }
  t.deepEqual(people, [
    { person, ...sums, notifications: 0, night_notifications: 0, acknowledged: 2, median_ack_seconds: 90 },
  ])
  const path = `/api/v3/on-call/schedules/${id}/report?${query}&format=csv`
  const { text } = await send(app.url, path, { headers: { 'X-Api-Key': rwKey } })
  t.regex(text, /^"name","address","seconds"[^\r]*\r\n"ben","ben-[^"]*","129600","57600"/)
})
