import type { Caller } from './example-caller.ts'

/** Records a schedule with its shifts, overrides, swaps and feeds. */
export async function recordOnCall(call: Caller): Promise<void> {
  const { id: schedule } = await call('createSchedule')
  const params = { schedule }
  await call('listShifts', { params })
  await call('createOverride', { params, body: { person: 'ben@example.org', ...hours(2, 4), note: 'Dentist' } })
  await call('takeShift', { params, body: { person: 'ben@example.org', until: hours(0, 1).end } })
  await call('listOverrides', { params })
  const offered = { from: 'anna@example.org', ...hours(6, 8), back: hours(30, 32), note: 'Parents’ evening' }
  const { id: swap } = await call('offerSwap', { params, body: offered })
  await call('takeSwap', { params: { swap } })
  await call('listSwaps', { params })
  const { id: feed } = await call('createCalendarFeed', { params, isOwn: true })
  await call('listCalendarFeeds', { params, isOwn: true })
  await call('revokeCalendarFeed', { params: { schedule, feed }, isOwn: true })
}

/** Returns a time that begins in some hours. */
function hours(start: number, end: number): { start: string; end: string } {
  const at = (hour: number) => `${new Date(Date.now() + hour * 3_600_000).toISOString().slice(0, 19)}Z`
  return { start: at(start), end: at(end) }
}
