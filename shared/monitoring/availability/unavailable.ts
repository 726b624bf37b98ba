import { type Micros, microsOfSeconds } from '../../time.ts'

export type Listener = 'http' | 'smtp'

/** A stored interval of coverage proof (docs/spec/alerting.md#listener-heartbeats). */
export interface Proof {
  kind: Listener | 'sweeper' | 'notifier'
  instance: string
  from: Micros
  until: Micros
  /** bit mask */
  shards: bigint
  /** ended by a clean shutdown */
  isClean: boolean
  /** the operator removed the listener at `until`; no gap follows until a listener of this kind proves again */
  isClosed?: boolean
}

/** A period in which pings of some shards may be lost, or deadlines were not evaluated. */
export interface Gap {
  listener: Proof['kind']
  /** bit mask; all bits for clock gaps */
  shards: bigint
  from: Micros
  until: Micros | null
  kind: 'full' | 'partial' | 'clock' | 'detection'
  cause: string
}

/** A listener without a newer proof does not accept pings. */
export const SILENT_AFTER: Micros = microsOfSeconds(6)
/** Time that a load balancer needs to notice a lost process. */
const SHADOW: Micros = microsOfSeconds(20)
/** A listener that shut down cleanly and stays away for this long counts as removed. */
const CLOSED_AFTER: Micros = microsOfSeconds(86_400)
/** Shorter holes are ignored, because heartbeats take time to be stored. */
const TOUCHING: Micros = microsOfSeconds(1)
export const ALL_SHARDS = (1n << 64n) - 1n

type Interval = { from: Micros; until: Micros; isFull: boolean }

/** A pure function, so every sweeper computes the same (docs/spec/alerting.md#coverage-gaps). */
export function gapsOf(proofs: readonly Proof[], shards: number, now: Micros): Gap[] {
  const present = proofs
    .filter(({ from }) => from <= now)
    .map((proof) => ({ ...proof, until: Math.min(proof.until, now) }))
  const byInterval = new Map<string, Gap>()
  for (const listener of ['http', 'smtp'] as const) {
    const own = present.filter(({ kind }) => kind === listener)
    const others = present.filter(({ kind }) => kind !== listener && (kind === 'http' || kind === 'smtp'))
    for (let shard = 0; shard < shards && own.length > 0; shard++) {
      for (const { from, until, isFull } of unavailableTime(own, others, 1n << BigInt(shard), now)) {
        const kind = isFull ? 'full' : 'partial'
        const key = `${listener} ${from} ${until} ${kind}`
        const known = byInterval.get(key)
        if (known) known.shards |= 1n << BigInt(shard)
        else {
          const isOpen = until >= now
          const cause = isFull ? causeOf(own, from, now) : 'process lost'
          byInterval.set(key, {
            listener,
            shards: 1n << BigInt(shard),
            from,
            until: isOpen ? null : until,
            kind,
            cause,
          })
        }
      }
    }
  }
  return [...byInterval.values(), ...detectionGaps(present, now)].sort((a, b) => a.from - b.from)
}

function causeOf(own: readonly Proof[], from: Micros, now: Micros): string {
  const isThere = own.some((proof) => proof.until > from && proof.from <= (now < from ? now : from))
  if (isThere) return 'broker'
  return own.some((proof) => proof.isClean && proof.until === from) ? 'restart' : 'process lost'
}

function unavailableTime(own: readonly Proof[], others: readonly Proof[], bit: bigint, now: Micros): Interval[] {
  const able = own.filter(({ shards }) => (shards & bit) !== 0n)
  const begin = Math.min(...own.map(({ from }) => from))
  const holes = holesOf(able, begin, tailOf(own, bit, now), now).map((hole) => ({ ...hole, isFull: true }))
  const closed = holes.map((hole) => cutWhenRemoved(cutWhenClosed(hole, own), own, others))
  return merged([...closed, ...shadowsOf(own, bit, now)])
}

/** Returns false while a live process may still prove the time since the last proof. */
function tailOf(own: readonly Proof[], bit: bigint, now: Micros): boolean {
  return ![...instancesOf(own).values()].some((rows) => {
    const newest = newestOf(rows)
    return !newest.isClean && now - newest.until <= SILENT_AFTER && (newest.shards & bit) !== 0n
  })
}

function holesOf(able: readonly Proof[], begin: Micros, isTailHole: boolean, now: Micros): Omit<Interval, 'isFull'>[] {
  const holes: Omit<Interval, 'isFull'>[] = []
  let reached = begin
  for (const { from, until } of able.toSorted((a, b) => a.from - b.from)) {
    if (from - reached > TOUCHING) holes.push({ from: reached, until: from })
    reached = Math.max(reached, until)
  }
  if (isTailHole && now > reached) holes.push({ from: reached, until: now })
  return holes
}

/** A load balancer may still send pings to a lost process or shard. */
function shadowsOf(own: readonly Proof[], bit: bigint, now: Micros): Interval[] {
  return [...instancesOf(own).values()].flatMap((all) => {
    const newest = newestOf(all)
    const rows = all.filter(({ shards }) => (shards & bit) !== 0n).sort((a, b) => a.from - b.from)
    return rows.flatMap(({ until, isClean }, index): Interval[] => {
      const next = rows[index + 1]
      if (next && next.from - until <= TOUCHING) return []
      const isGone = until === newest.until && now - until > SILENT_AFTER && !isClean
      const isLost = next !== undefined || newest.until > until
      if (isClean || (!isGone && !isLost)) return []
      return [{ from: until, until: Math.min(until + SHADOW, next?.from ?? now, now), isFull: false }]
    })
  })
}

function cutWhenClosed<T extends { from: Micros; until: Micros }>(hole: T, own: readonly Proof[]): T {
  const closings = own.filter(({ isClosed, until }) => isClosed && until >= hole.from && until < hole.until)
  return closings.length === 0 ? hole : { ...hole, until: Math.min(...closings.map(({ until }) => until)) }
}

/** The gap ends one day after a clean shutdown, if the other kind works then. */
function cutWhenRemoved<T extends { from: Micros; until: Micros }>(
  hole: T,
  own: readonly Proof[],
  others: readonly Proof[],
): T {
  const end = hole.from + CLOSED_AFTER
  if (hole.until < end || !own.some(({ isClean, until }) => isClean && until === hole.from)) return hole
  const isOtherAble = others.some(({ from, until }) => from <= end && until >= end - SILENT_AFTER)
  return isOtherAble ? { ...hole, until: Math.min(hole.until, end - 1) } : hole
}

function merged(intervals: readonly Interval[]): Interval[] {
  const result: Interval[] = []
  for (const { from, until, isFull } of intervals.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last && from <= last.until) {
      last.until = Math.max(last.until, until)
      last.isFull ||= isFull
    } else if (until > from) result.push({ from, until, isFull })
  }
  return result
}

/** No ping was lost; notifications were late. */
function detectionGaps(proofs: readonly Proof[], now: Micros): Gap[] {
  return (['sweeper', 'notifier'] as const).flatMap((listener) => {
    const own = proofs.filter(({ kind }) => kind === listener)
    if (own.length === 0) return []
    const begin = Math.min(...own.map(({ from }) => from))
    const isSilent = own.every(({ until }) => now - until > SILENT_AFTER)
    return holesOf(own, begin, isSilent, now)
      .filter(({ from, until }) => until - from > SILENT_AFTER)
      .map(({ from, until }): Gap => {
        const isOpen = until >= now
        return { listener, shards: 0n, from, until: isOpen ? null : until, kind: 'detection', cause: `no ${listener}` }
      })
  })
}

/** No later deadline can be evaluated. A silent process does not count: its time is a gap. */
export function provenUntil(proofs: readonly Proof[], now: Micros): Micros {
  const live = [...instancesOf(proofs.filter(({ kind }) => kind === 'http' || kind === 'smtp')).values()]
    .map(newestOf)
    .filter(({ isClean, until }) => !isClean && now - until <= SILENT_AFTER)
  return Math.min(now, ...live.map(({ until }) => until))
}

function instancesOf(proofs: readonly Proof[]): Map<string, Proof[]> {
  return Map.groupBy(proofs, ({ instance }) => instance)
}

function newestOf(rows: readonly Proof[]): Proof {
  return rows.reduce((newest, row) => (row.until > newest.until ? row : newest))
}
