import { type Micros, toIsoSeconds } from '../../time.ts'
import type { CheckSchedule, NextOccurrence } from '../checks/check.ts'
import { countedSources, type Quorum, quorumText, staleAt } from './quorum.ts'

/** Omits sources that are expected by number and have not reported yet. */
export function toSourcesView(check: CheckSchedule, quorum: Quorum, now: Micros, next: NextOccurrence) {
  const sources = countedSources(quorum)
    .filter(({ name }) => name !== '')
    .map(({ name, source }) => {
      const stale = staleAt(check, quorum, source, next)
      const isKnown = stale !== null && Number.isFinite(stale)
      return {
        name,
        last_ping: source?.lastPing == null ? null : toIsoSeconds(source.lastPing),
        kind: source?.lastKind ?? '',
        fresh: source?.heardAt != null && stale !== null && stale >= now,
        stale: isKnown ? toIsoSeconds(stale) : null,
      }
    })
  return { sources, text: quorumText(check, quorum, now, next) }
}
