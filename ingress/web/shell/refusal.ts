import type { Micros } from '#shared/time.ts'
import type { IngressDeps } from '../../deps.ts'

/** That every ping is refused now. */
export interface PingRefusal {
  /** first page request during the refusal */
  since: Micros
  /** the message broker cannot be reached; else this process does not fit its installation */
  isBroker: boolean
}

/**
 * Records, at each page request, since when pings are refused. A process that only needs less traffic (late event
 * loop, shutdown, no change events) is not ready, but still accepts each ping.
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
