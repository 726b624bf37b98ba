import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Knex } from 'knex'
import { describeError, type Log } from '../../platform/process/log.ts'
import { createAttestation, momentNow, msToNextRound } from '../availability/attestation.ts'
import { endProofs, storeProofs } from '../availability/proof-store.ts'
import type { Proof } from '../availability/unavailable.ts'

const INTERVAL_MS = 2_000

/**
 * Calls `prove` every 2 s and stores the proven intervals as heartbeats (docs/spec/alerting.md#listener-heartbeats).
 * Closing it ends the last interval, so that a planned stop is not a lost process.
 */
export function startProver(
  { db, log }: { db: Knex; log: Log },
  kind: Proof['kind'],
  {
    intervalMs = INTERVAL_MS,
    prove,
    afterStore,
  }: {
    intervalMs?: number | undefined
    /** bit mask of the proven shards; 0n for none */
    prove: () => Promise<bigint>
    afterStore: () => Promise<void>
  },
): AsyncDisposable {
  const prover = { instance: randomUUID(), kind }
  const attestation = createAttestation(intervalMs)
  const closing = new AbortController()

  async function proveUntilClosed(): Promise<void> {
    while (!closing.signal.aborted) {
      const began = momentNow()
      attestation.prove(began, await prove())
      await store().catch((error: unknown) => log.warn(describeError(error), 'proofs.not-stored'))
      await wait(msToNextRound(intervalMs, began), undefined, { ref: false, signal: closing.signal }).catch(() => {})
    }
  }

  async function store(): Promise<void> {
    const spans = attestation.waiting()
    if (spans.length > 0) await storeProofs(db, { ...prover, spans })
    attestation.stored(spans)
    await afterStore()
  }

  const proving = proveUntilClosed()
  return {
    async [Symbol.asyncDispose]() {
      closing.abort()
      await proving
      try {
        await store()
        await endProofs(db, prover.instance)
      } catch (error) {
        log.warn(describeError(error), 'proofs.not-ended')
      }
    },
  }
}
