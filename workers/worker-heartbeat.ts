import { startProver } from '#shared/monitoring/operations/prover.ts'
import type { WorkerDeps } from './define-worker.ts'

/** Workers have no shards; any bit proves that they run. */
const RUNS = 1n

/** A missing interval means that no sweep or notifier ran (docs/spec/alerting.md#coverage-gaps). */
export function startHeartbeats(
  { reserveDb, log, metrics }: Pick<WorkerDeps, 'reserveDb' | 'log' | 'metrics'>,
  kind: 'sweeper' | 'notifier',
): AsyncDisposable {
  let storedAt = performance.now()
  metrics.heartbeatAge.read((gauge) => gauge.set({ kind }, (performance.now() - storedAt) / 1000))
  return startProver({ db: reserveDb, log }, kind, {
    prove: async () => RUNS,
    async afterStore() {
      storedAt = performance.now()
    },
  })
}
