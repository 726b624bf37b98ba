import type { CacheChange } from '#shared/contracts/ingress-messages.ts'
import type { PingAuthRules } from '#shared/monitoring/pings/ping-secret.ts'

export interface KnownCheck {
  checkId: number
  uuid: string
  projectId: number
  /** absent or null without rules */
  rules?: PingAuthRules | null
}

/** A slug of several checks is ambiguous. */
export type SlugMatch = KnownCheck | 'ambiguous' | null

interface Entry<T> {
  value: T
  readAt: number
  /** true while a refresh is running, and after it failed */
  isRefreshing: boolean
}

interface PendingLookup<T> {
  key: string
  resolve: (value: T) => void
  reject: (error: unknown) => void
}

/** Lifetime of an entry for a key without a check. */
const MISSED_MS = 2_000
/** Stale entries are used for this long while the database does not respond. */
const ENTRY_TTL_MS = 24 * 3_600_000
/** Maximum wait for a lookup if a stale entry exists. */
const MAX_WAIT_MS = 1_000
/** After a failed lookup, stale entries are returned at once for this long. */
const STALE_MAX_AGE_MS = 2_000
const REFRESH_RATIO = 0.5
const GATHER_MS = 20
const MAX_PREFETCHES = 1_000

/**
 * Bounded cache of lookups. Misses of one event-loop iteration share a query. Announced changes drop or expire entries;
 * their lifetime limits the delay if an announcement is lost. Used entries are refreshed before they expire, so that
 * pings of busy checks do not wait. Expired entries serve pings of known checks while lookups fail.
 */
class LookupCache<T extends object | string | null> {
  readonly #entries = new Map<string, Entry<T>>()
  readonly #size: number
  readonly #freshMs: number
  readonly #lookUp: (keys: string[]) => Promise<Map<string, T>>
  readonly #absent: T
  #pending: PendingLookup<T>[] = []
  /** running lookups by key; a change removes earlier ones */
  readonly #requested = new Map<string, Promise<T>>()
  /** incremented by each change, so that an older result is not cached */
  #generation = 0
  #expiredAt = 0
  #failedAt = Number.NEGATIVE_INFINITY
  readonly #toPrefetch: string[] = []
  #isPrefetching = false

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

  peek(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const now = performance.now()
    const age = now - entry.readAt
    if (entry.readAt > this.#expiredAt && age < (isFound(entry.value) ? this.#freshMs : MISSED_MS)) {
      if (age > this.#freshMs * REFRESH_RATIO && !entry.isRefreshing) this.#prefetch(key, entry)
      return entry.value
    }
    return now - this.#failedAt < STALE_MAX_AGE_MS ? this.#staleEntry(key) : undefined
  }

  /**
   * Looks up a key. Concurrent calls share one lookup. Two lookups could end in reverse order, and would reverse two
   * pings of one connection.
   * @throws the error of the database, unless a stale entry exists
   */
  find(key: string): Promise<T> {
    const requested = this.#requested.get(key)
    if (requested !== undefined) return requested
    const answer = this.#request(key)
    this.#requested.set(key, answer)
    const forget = () => {
      if (this.#requested.get(key) === answer) this.#requested.delete(key)
    }
    answer.then(forget, forget)
    return answer
  }

  #request(key: string): Promise<T> {
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

  deleteWhere(isGone: (value: T) => boolean): void {
    this.#changed()
    for (const [key, { value }] of this.#entries) if (isGone(value)) this.#entries.delete(key)
  }

  expire(): void {
    this.#changed()
    this.#expiredAt = performance.now()
  }

  #changed(): void {
    this.#generation += 1
    this.#requested.clear()
  }

  /** Ignores stale entries for keys without a check. */
  #staleEntry(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || !isFound(entry.value)) return undefined
    return performance.now() - entry.readAt < ENTRY_TTL_MS ? entry.value : undefined
  }

  /** Evicts the entry with the oldest lookup, because an LRU order would cost too much per ping. */
  #keep(key: string, value: T): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value, readAt: performance.now(), isRefreshing: false })
    if (this.#entries.size <= this.#size) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }

  #prefetch(key: string, entry: Entry<T>): void {
    entry.isRefreshing = true
    this.#toPrefetch.push(key)
    if (!this.#isPrefetching) this.#startPrefetch()
  }

  /** Runs one refresh query at a time, so that a slow database does not get ever more queries. */
  #startPrefetch(): void {
    this.#isPrefetching = true
    setTimeout(() => {
      const keys = this.#toPrefetch.splice(0, MAX_PREFETCHES)
      const generation = this.#generation
      const keep = (answers: Map<string, T>) => {
        if (generation !== this.#generation) return
        for (const key of keys) this.#keep(key, answers.get(key) ?? this.#absent)
      }
      const next = () => {
        this.#isPrefetching = false
        if (this.#toPrefetch.length > 0) this.#startPrefetch()
      }
      // A failure is ignored here: the lookup of a key that has expired meanwhile reports it.
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
  /** Expires all entries, because announcements may have been lost. Stale entries remain usable while lookups fail. */
  expire(): void
}

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
        // A key may have been revoked, or the project deleted.
        const isOfProject = (value: object | string | null) => isFound(value) && value.projectId === change.projectId
        byUuid.deleteWhere(isOfProject)
        bySlug.deleteWhere(isOfProject)
      }
      // A new name can make any slug ambiguous, so all are expired. Changes are rare compared with pings.
      bySlug.expire()
    },
    expire() {
      byUuid.expire()
      bySlug.expire()
    },
  }
}
