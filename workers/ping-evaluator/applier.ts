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
 * Applies batches, one transaction each. If this process stored the checks last, the transaction does not read them
 * (docs/adr/0002). If another process has changed one since, or a check needs more facts, it repeats with locks.
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

  /** Returns null if the checks must be read; then nothing is stored. */
  async #applyToKnown(batches: readonly ShardBatch[]): Promise<Applied | null> {
    const known = this.#known.take(checkIdsOf(batches))
    if (!known) return null
    try {
      const applied = await this.#inTransaction(async (run) => {
        const result = await applyToKnown(run, batches, known, this.#options())
        if (!result?.stored || !this.#known.isOf(result.stored.writer)) throw OUTDATED
        return result
      })
      this.#known.current()
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
      // The transaction may have been committed, so the stored state of the checks is unknown.
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
const OUTDATED = new Error('another process has changed a check')
