import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { createAttestation, type Moment } from '#shared/monitoring/availability/attestation.ts'
import { endProofs, storeProofs } from '#shared/monitoring/availability/proof-store.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { WorkerDeps } from './define-worker.ts'

const EVERY_MS = 2_000
const THERE = 1n

/** Writes a worker heartbeat every 2 s. A missing interval means that no sweep ran, or no notification was sent (docs/spec/alerting.md#coverage-gaps). */
export function startHeartbeats(
  { reserveDb, log, metrics }: Pick<WorkerDeps, 'reserveDb' | 'log' | 'metrics'>,
  kind: 'sweeper' | 'notifier',
): AsyncDisposable {
  const prover = { instance: randomUUID(), kind }
  const attestation = createAttestation(EVERY_MS)
  const closing = new AbortController()
  let storedAt = performance.now()
  metrics.heartbeatAge.read((gauge) => gauge.set({ kind }, (performance.now() - storedAt) / 1000))

  async function store(): Promise<void> {
    const spans = attestation.waiting()
    await storeProofs(reserveDb, prover, spans, momentNow())
    attestation.stored(spans)
    storedAt = performance.now()
  }

  async function heartbeatOn(): Promise<void> {
    while (!closing.signal.aborted) {
      attestation.prove(momentNow(), THERE)
      await store().catch((error: unknown) => log.warn(describeError(error), 'presence.not-stored'))
      await wait(EVERY_MS, undefined, { ref: false, signal: closing.signal }).catch(() => {})
    }
  }

  const beating = heartbeatOn()
  return {
    async [Symbol.asyncDispose]() {
      closing.abort()
      await beating
      await endProofs(reserveDb, prover.instance).catch((error: unknown) =>
        log.warn(describeError(error), 'presence.not-ended'),
      )
    },
  }
}

function momentNow(): Moment {
  return { monotonic: performance.now(), wall: Date.now() }
}
