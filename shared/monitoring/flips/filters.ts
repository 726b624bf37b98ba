import { type Micros, microsOfSeconds, toIsoSeconds } from '../../time.ts'
import type { StoredStatus } from '../checks/check.ts'

/** Flips at or after `from` and before `before`; null means no bound. */
export interface FlipRange {
  from: Micros | null
  before: Micros | null
}

const MAX_TIMESTAMP = 10_000_000_000
const MAX_SECONDS = 31_536_000

/** Null if a filter is invalid: 400 with an empty body (docs/spec/monitoring.md#flips-list). */
export function parseFlipFilters(query: URLSearchParams, now: Micros): FlipRange | null {
  const start = readInteger(query.getAll('start').at(-1), MAX_TIMESTAMP)
  const end = readInteger(query.getAll('end').at(-1), MAX_TIMESTAMP)
  const seconds = readSeconds(query.getAll('seconds').at(-1))
  if (start === 'invalid' || end === 'invalid' || seconds === 'invalid') return null
  const bounds = [
    ...(start === null ? [] : [microsOfSeconds(start)]),
    // 0 means no filter.
    ...(seconds === null || seconds === 0 ? [] : [now - microsOfSeconds(seconds)]),
  ]
  return {
    from: bounds.length === 0 ? null : Math.max(...bounds),
    before: end === null ? null : microsOfSeconds(end),
  }
}

/** An empty value means no filter; `.0` at the end is accepted. */
function readSeconds(text: string | undefined): number | null | 'invalid' {
  return readInteger(text === '' ? undefined : text?.replace(/\.0*\s*$/, ''), MAX_SECONDS)
}

function readInteger(text: string | undefined, max: number): number | null | 'invalid' {
  if (text === undefined) return null
  const trimmed = text.trim()
  if (!/^[0-9]{1,20}$/.test(trimmed)) return 'invalid'
  const value = Number(trimmed)
  return value <= max ? value : 'invalid'
}

export interface Flip {
  at: Micros
  from: StoredStatus
  to: StoredStatus
}

/** See docs/spec/monitoring.md#flips-list. */
export function toFlipView(flip: Pick<Flip, 'at' | 'to'>): { timestamp: string; up: 0 | 1 } {
  return { timestamp: toIsoSeconds(flip.at), up: flip.to === 'up' ? 1 : 0 }
}
