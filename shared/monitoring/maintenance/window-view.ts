import { toIsoSeconds } from '../../time.ts'
import type { Window } from './window.ts'

/** A maintenance window as the API shows it. */
export function windowView({ uuid, name, match, checks, time, uptime, shown }: Window) {
  return {
    id: uuid,
    name,
    match,
    checks,
    ...('starts' in time
      ? { starts: toIsoSeconds(time.starts), ends: toIsoSeconds(time.ends) }
      : { every: time.every, for: time.for, tz: time.tz }),
    uptime,
    shown,
  }
}
