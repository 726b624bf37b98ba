import { type DemoCheck, demoDuration } from '#shared/monitoring/pages/demo-checks.ts'

/** A check as `/api/v3/checks/` returns it. */
interface ListedCheck {
  status: string
  /** true while a run is open */
  started: boolean
  last_ping: string | null
}

const FAILING_EVERY_MS = 30 * 60_000
const FAILING_FOR_MS = 5 * 60_000

/**
 * Returns the ping that a check of the demo needs now; null if none is due. Late checks ping in their grace time, a
 * flaky one fails twice an hour, and those that show another state are not pinged.
 * @param startedAt start of the open run in milliseconds since 1970; undefined if unknown
 */
export function duePing(
  check: DemoCheck,
  { status, started, last_ping }: ListedCheck,
  startedAt: number | undefined,
  now: number,
): 'start' | 'success' | 'fail' | null {
  const { role, period, grace } = check
  if (status === 'paused' || (role !== 'steady' && role !== 'late' && role !== 'flaky')) return null
  const last = last_ping === null ? 0 : Date.parse(last_ping)
  const durationMs = demoDuration(check, Math.floor(last / 1000 / period)) * 1000
  const finish = role === 'flaky' && now % FAILING_EVERY_MS < FAILING_FOR_MS ? 'fail' : 'success'
  if (started) return startedAt === undefined || now >= startedAt + durationMs ? finish : null
  const endsAt = last + (role === 'late' ? period + grace / 2 : period * 0.95) * 1000
  // An overdue check is pinged at once, because an open run would keep it overdue for longer.
  if (now >= endsAt) return finish
  return now >= endsAt - durationMs ? 'start' : null
}
