import type { Micros } from '#shared/time.ts'
import type { IngressDeps } from '../../deps.ts'

export interface PingRefusal {
  since: Micros
  /** true if the broker is unreachable; false if the process does not know the schema or the ping queues */
  isBroker: boolean
}

/**
 * Records since when pings are refused, at each page request. A process that only needs less traffic (late event loop,
 * shutdown, no change events) is not ready, but accepts pings.
 */
export function createRefusalWatch({
  pingRefusals,
  now,
}: Pick<IngressDeps, 'pingRefusals' | 'now'>): () => Promise<PingRefusal | null> {
  let since: Micros | null = null
  return async () => {
    const problems = await pingRefusals.problems()
    since = problems.length === 0 ? null : (since ?? now())
    return since === null ? null : { since, isBroker: problems.some((problem) => problem.startsWith('broker')) }
  }
}
