import { isSlotTaken } from '#shared/monitoring/pings/record-store.ts'
import { preparedTransaction, type RunPrepared } from '#shared/platform/database/prepared.ts'
import type { WorkerDeps } from '../define-worker.ts'
import { type Applied, applyBatches, applyToKnown, checkIdsOf, type ShardBatch } from './apply.ts'
import { KnownChecks } from './known-checks.ts'

interface Limits {
  pingLogLimit: number
  keptFailures: number
}

/**
 * Applies batches, one transaction each: without reading the checks if this process was the last to store them
 * (docs/adr/0002). If another process changed one since, or more is needed, it repeats with locks.
 */
export class Applier {
  readonly #deps: Pick<WorkerDeps, 'db' | 'clock' | 'crashPoint'> & { config: Limits }
  readonly #known = new KnownChecks()

  constructor(deps: Pick<WorkerDeps, 'db' | 'clock' | 'crashPoint'> & { config: Limits }) {
    this.#deps = deps
  }

  async apply(batches: readonly ShardBatch[]): Promise<Applied> {
    return (await this.#applyToKnown(batches)) ?? (await this.#applyLocked(batches))
  }

  /** Null if it was not possible; nothing is stored then. */
  async #applyToKnown(batches: readonly ShardBatch[]): Promise<Applied | null> {
    const known = this.#known.take(checkIdsOf(batches))
    if (!known) return null
    try {
      const applied = await this.#inTransaction(async (run) => {
        const result = await applyToKnown(run, batches, known, this.#options())
        if (!result?.stored || !this.#known.isOf(result.stored.writer)) throw OUTDATED
        return result
      })
      this.#known.held()
      return applied
    } catch (error) {
      if (error !== OUTDATED && !isSlotTaken(error)) throw error
      this.#known.outdated()
      return null
    }
  }

  async #applyLocked(batches: readonly ShardBatch[]): Promise<Applied> {
    return await this.#inTransaction((run) => applyBatches(run, batches, this.#options()))
  }

  async #inTransaction(work: (run: RunPrepared) => Promise<Applied>): Promise<Applied> {
    try {
      const applied = await preparedTransaction(this.#deps.db, async (run) => {
        const result = await work(run)
        this.#deps.crashPoint('before-commit')
        return result
      })
      if (applied.stored) this.#known.keep(applied.stored.checks, applied.stored.writer)
      return applied
    } catch (error) {
      // It is unknown if the transaction has committed, and on which server.
      if (error !== OUTDATED) this.#known.forget()
      throw error
    }
  }

  #options() {
    const { pingLogLimit, keptFailures } = this.#deps.config
    return { logLimit: pingLogLimit, keptFailures, now: this.#deps.clock.now() }
  }
}

/** Aborts the transaction. */
const OUTDATED = new Error('a check was changed meanwhile')

/** A single message is handled at once; dense messages share a transaction. */
export interface Gathering {
  /** Resolves when the wait since the last call is over, or after `hurry`. */
  turn(): Promise<void>
  /** Ends the current or the next wait, because a message must be handled at once. */
  hurry(): void
}

/** `apartMs` is the minimum time between two turns. */
export function createGathering(apartMs: number): Gathering {
  let begunAt = Number.NEGATIVE_INFINITY
  let isHurried = false
  let end: () => void = () => {}

  return {
    async turn() {
      const leftMs = begunAt + apartMs - performance.now()
      if (leftMs > 0 && !isHurried) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, leftMs)
          end = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      isHurried = false
      begunAt = performance.now()
    },
    hurry() {
      isHurried = true
      end()
    },
  }
}
