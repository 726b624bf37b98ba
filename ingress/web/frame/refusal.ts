import type { Micros } from '#shared/time.ts'
import type { IngressDeps } from '../../deps.ts'

/** Notices, whenever a page is asked for, since when pings cannot be taken. */
export function createRefusalWatch({
  pingReadiness,
  now,
}: Pick<IngressDeps, 'pingReadiness' | 'now'>): () => Promise<Micros | null> {
  let since: Micros | null = null
  return async () => {
    const problems = await pingReadiness.problems()
    since = problems.length === 0 ? null : (since ?? now())
    return since
  }
}
