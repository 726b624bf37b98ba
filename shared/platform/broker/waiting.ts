import type { Metrics } from '../process/metrics.ts'

export function countWaiting(
  { waiting }: Pick<Metrics, 'waiting'>,
  queues: readonly string[],
): { begin(): void; end(): void } & Disposable {
  let isCounted = false
  const count = (isWaiting: boolean) => {
    if (isWaiting === isCounted) return
    isCounted = isWaiting
    for (const queue of queues) waiting.inc({ queue }, isWaiting ? 1 : -1)
  }
  return { begin: () => count(true), end: () => count(false), [Symbol.dispose]: () => count(false) }
}
