import type { CacheChange } from '../deps.ts'

/** What the ping door must know of a check. */
export interface KnownCheck {
  checkId: number
  uuid: string
  projectId: number
}

/** How many checks with one slug there are decides the answer, not which. */
export type SlugMatch = KnownCheck | 'ambiguous' | null

interface Entry<T> {
  value: T
  expiresAt: number
}

interface PendingLookup<T> {
  key: string
  resolve: (value: T) => void
  reject: (error: unknown) => void
}

const FOUND_MS = 30_000
const MISSED_MS = 2_000

/**
 * A bounded memory of answers to one question. Misses of one event-loop turn are looked up together. Entries are
 * dropped when a change is announced, and expire in case the announcement was lost.
 */
class LookupCache<T extends object | string | null> {
  readonly #entries = new Map<string, Entry<T>>()
  readonly #size: number
  readonly #lookUp: (keys: string[]) => Promise<Map<string, T>>
  readonly #absent: T
  #pending: PendingLookup<T>[] = []
  /** counts changes, so that an answer that was read before a change is not kept after it */
  #generation = 0

  constructor(size: number, absent: T, lookUp: (keys: string[]) => Promise<Map<string, T>>) {
    this.#size = size
    this.#absent = absent
    this.#lookUp = lookUp
  }

  /** The remembered answer; undefined when it must be looked up. */
  peek(key: string): T | undefined {
    const entry = this.#entries.get(key)
    return entry !== undefined && entry.expiresAt > Date.now() ? entry.value : undefined
  }

  /** @throws what the database throws */
  find(key: string): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) setImmediate(() => this.#lookUpPending())
      this.#pending.push({ key, resolve, reject })
    })
  }

  delete(key: string): void {
    this.#generation += 1
    this.#entries.delete(key)
  }

  clear(): void {
    this.#generation += 1
    this.#entries.clear()
  }

  /**
   * A plain map that drops what was looked up longest ago: an entry lives half a minute at most, so keeping those in
   * use longer would gain nothing, and its bookkeeping would cost more per ping than everything else here.
   */
  #keep(key: string, entry: Entry<T>): void {
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    if (this.#entries.size <= this.#size) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }

  #lookUpPending(): void {
    const pending = this.#pending
    this.#pending = []
    const generation = this.#generation
    this.#lookUp([...new Set(pending.map(({ key }) => key))]).then(
      (answers) => {
        for (const { key, resolve } of pending) {
          const value = answers.get(key) ?? this.#absent
          const isFound = typeof value === 'object' && value !== null
          if (generation === this.#generation) {
            this.#keep(key, { value, expiresAt: Date.now() + (isFound ? FOUND_MS : MISSED_MS) })
          }
          resolve(value)
        }
      },
      (error: unknown) => {
        for (const { reject } of pending) reject(error)
      },
    )
  }
}

export interface CheckCache {
  byUuid: LookupCache<KnownCheck | null>
  /** keys are `<ping key>/<slug>` */
  bySlug: LookupCache<SlugMatch>
  forget(change: CacheChange): void
}

export function createCheckCache(lookUps: {
  byUuid: (uuids: string[]) => Promise<Map<string, KnownCheck | null>>
  bySlug: (keys: string[]) => Promise<Map<string, SlugMatch>>
}): CheckCache {
  const byUuid = new LookupCache<KnownCheck | null>(200_000, null, lookUps.byUuid)
  const bySlug = new LookupCache<SlugMatch>(100_000, null, lookUps.bySlug)
  return {
    byUuid,
    bySlug,
    forget(change) {
      if (change.kind === 'check') byUuid.delete(change.uuid)
      else byUuid.clear()
      // Which slugs a change touches is not known here (a new name may make another ambiguous); changes are rare
      // beside pings, and the next ones are looked up together.
      bySlug.clear()
    },
  }
}
