import type { CacheChange } from '#shared/contracts/ingress-messages.ts'
import type { PingAuthRules } from '#shared/monitoring/pings/ping-secret.ts'

/** What the ping listener must know of a check. */
export interface KnownCheck {
  checkId: number
  uuid: string
  projectId: number
  /** what its rules ask of its pings; absent or null for a plain check */
  rules?: PingAuthRules | null
}

/** How many checks with one slug there are decides the answer, not which. */
export type SlugMatch = KnownCheck | 'ambiguous' | null

interface Entry<T> {
  value: T
  /** milliseconds, of a clock that no one sets */
  readAt: number
  /** whether it is being looked up ahead, or was in vain */
  isRefreshing: boolean
}

interface PendingLookup<T> {
  key: string
  resolve: (value: T) => void
  reject: (error: unknown) => void
}

const MISSED_MS = 2_000
/** For how long what is no longer fresh may stand in for a database that does not answer. */
const ENTRY_TTL_MS = 24 * 3_600_000
/** Longest wait for a look-up that memory could stand in for. */
const MAX_WAIT_MS = 1_000
/** After a look-up failed, memory stands in at once for so long. */
const STALE_MAX_AGE_MS = 2_000
/** The part of its time after which what is in use is looked up ahead. */
const REFRESH_RATIO = 0.5
/** What is looked up ahead within so long is looked up together: nobody waits for it. */
const GATHER_MS = 20
/** Looked up ahead in one query. */
const MAX_PREFETCHES = 1_000

/**
 * A bounded memory of answers to one question. Misses of one event-loop turn are looked up together. Entries are
 * dropped or expire when a change is announced, and expire in case the announcement was lost. What is in use is looked up
 * ahead of that, many at once, so that pings of busy checks do not wait. What has expired is looked up anew; only while
 * that fails it still counts, so that pings of known checks are taken while the database is away.
 */
class LookupCache<T extends object | string | null> {
  readonly #entries = new Map<string, Entry<T>>()
  readonly #size: number
  readonly #freshMs: number
  readonly #lookUp: (keys: string[]) => Promise<Map<string, T>>
  readonly #absent: T
  #pending: PendingLookup<T>[] = []
  /** by key, what is not answered yet; nothing from before a change */
  readonly #requested = new Map<string, Promise<T>>()
  /** counts changes, so that an answer that was read before a change is not kept after it */
  #generation = 0
  #expiredAt = 0
  #failedAt = Number.NEGATIVE_INFINITY
  /** to be looked up ahead */
  readonly #ageing: string[] = []
  #isAhead = false

  constructor(options: {
    size: number
    freshMs: number
    absent: T
    lookUp: (keys: string[]) => Promise<Map<string, T>>
  }) {
    this.#size = options.size
    this.#freshMs = options.freshMs
    this.#absent = options.absent
    this.#lookUp = options.lookUp
  }

  /** The remembered answer; undefined when it must be looked up. */
  peek(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const now = performance.now()
    const age = now - entry.readAt
    if (entry.readAt > this.#expiredAt && age < (isFound(entry.value) ? this.#freshMs : MISSED_MS)) {
      if (age > this.#freshMs * REFRESH_RATIO && !entry.isRefreshing) this.#lookUpAhead(key, entry)
      return entry.value
    }
    return now - this.#failedAt < STALE_MAX_AGE_MS ? this.#staleEntry(key) : undefined
  }

  /**
   * Who asks for what is being looked up waits for the same answer: two look-ups could come back in the other order, and
   * with them two pings of one connection.
   * @throws what the database throws, unless the answer is remembered from before
   */
  find(key: string): Promise<T> {
    const requested = this.#requested.get(key)
    if (requested !== undefined) return requested
    const answer = this.#ask(key)
    this.#requested.set(key, answer)
    const forget = () => {
      if (this.#requested.get(key) === answer) this.#requested.delete(key)
    }
    answer.then(forget, forget)
    return answer
  }

  #ask(key: string): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) setImmediate(() => this.#lookUpPending())
      const staleEntry = this.#staleEntry(key)
      if (staleEntry === undefined) {
        this.#pending.push({ key, resolve, reject })
        return
      }
      const timer = setTimeout(() => {
        this.#failedAt = performance.now()
        resolve(staleEntry)
      }, MAX_WAIT_MS)
      this.#pending.push({
        key,
        resolve: (value) => {
          clearTimeout(timer)
          resolve(value)
        },
        reject: () => {
          clearTimeout(timer)
          resolve(staleEntry)
        },
      })
    })
  }

  delete(key: string): void {
    this.#changed()
    this.#entries.delete(key)
  }

  /** Forgets for good what `isGone` says of. */
  deleteWhere(isGone: (value: T) => boolean): void {
    this.#changed()
    for (const [key, { value }] of this.#entries) if (isGone(value)) this.#entries.delete(key)
  }

  /** From now on everything is looked up again. */
  expire(): void {
    this.#changed()
    this.#expiredAt = performance.now()
  }

  #changed(): void {
    this.#generation += 1
    this.#requested.clear()
  }

  /** What may be used while the database is away: only that something exists, never that it does not. */
  #staleEntry(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || !isFound(entry.value)) return undefined
    return performance.now() - entry.readAt < ENTRY_TTL_MS ? entry.value : undefined
  }

  /** A plain map that drops what was looked up longest ago: bookkeeping of uses would cost more per ping than the rest. */
  #keep(key: string, value: T): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value, readAt: performance.now(), isRefreshing: false })
    if (this.#entries.size <= this.#size) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }

  #lookUpAhead(key: string, entry: Entry<T>): void {
    entry.isRefreshing = true
    this.#ageing.push(key)
    if (!this.#isAhead) this.#gatherAhead()
  }

  /** One at a time: a database that does not answer is not asked ever more. */
  #gatherAhead(): void {
    this.#isAhead = true
    setTimeout(() => {
      const keys = this.#ageing.splice(0, MAX_PREFETCHES)
      const generation = this.#generation
      const keep = (answers: Map<string, T>) => {
        if (generation !== this.#generation) return
        for (const key of keys) this.#keep(key, answers.get(key) ?? this.#absent)
      }
      const next = () => {
        this.#isAhead = false
        if (this.#ageing.length > 0) this.#gatherAhead()
      }
      // Where it fails, whoever asks after its time is over finds out how the database is.
      this.#lookUp(keys).then(keep).then(next, next)
    }, GATHER_MS).unref()
  }

  #lookUpPending(): void {
    const pending = this.#pending
    this.#pending = []
    const generation = this.#generation
    this.#lookUp([...new Set(pending.map(({ key }) => key))]).then(
      (answers) => {
        this.#failedAt = Number.NEGATIVE_INFINITY
        for (const { key, resolve } of pending) {
          const value = answers.get(key) ?? this.#absent
          if (generation === this.#generation) this.#keep(key, value)
          resolve(value)
        }
      },
      (error: unknown) => {
        this.#failedAt = performance.now()
        for (const { reject } of pending) reject(error)
      },
    )
  }
}

function isFound(value: object | string | null): value is KnownCheck {
  return typeof value === 'object' && value !== null
}

export interface CheckCache {
  byUuid: LookupCache<KnownCheck | null>
  /** keys are `<ping key>/<slug>` */
  bySlug: LookupCache<SlugMatch>
  forget(change: CacheChange): void
  /** Announcements may have been lost: everything is looked up again, and remembered only in place of an answer. */
  expire(): void
}

/** @param freshMs for how long an answer counts without asking again */
export function createCheckCache(
  lookupCount: {
    byUuid: (uuids: string[]) => Promise<Map<string, KnownCheck | null>>
    bySlug: (keys: string[]) => Promise<Map<string, SlugMatch>>
  },
  freshMs: number,
): CheckCache {
  const byUuid = new LookupCache<KnownCheck | null>({
    size: 200_000,
    freshMs,
    absent: null,
    lookUp: lookupCount.byUuid,
  })
  const bySlug = new LookupCache<SlugMatch>({ size: 100_000, freshMs, absent: null, lookUp: lookupCount.bySlug })
  return {
    byUuid,
    bySlug,
    forget(change) {
      if (change.kind === 'check') {
        byUuid.delete(change.uuid)
      } else {
        // A key may have been revoked, or all of its checks be gone.
        const isOfProject = (value: object | string | null) => isFound(value) && value.projectId === change.projectId
        byUuid.deleteWhere(isOfProject)
        bySlug.deleteWhere(isOfProject)
      }
      // Which slugs a change touches is not known here (a new name may make another ambiguous); changes are rare
      // beside pings, and the next ones are looked up together.
      bySlug.expire()
    },
    expire() {
      byUuid.expire()
      bySlug.expire()
    },
  }
}
