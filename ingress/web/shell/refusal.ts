import type { Micros } from '#shared/time.ts'
import type { IngressDeps } from '../../deps.ts'

/** That every ping is refused now. */
export interface PingRefusal {
  /** when a page was first asked for while it was so */
  since: Micros
  /** the message broker cannot be reached; else this process does not fit its installation */
  isBroker: boolean
}

/**
 * Notices, whenever a page is asked for, since when pings are refused. That a process asks for less (its event loop is
 * late, it stops, it hears of no changes) is readiness: it still takes each ping that comes.
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
