import type { Check, ShownStatus } from '#shared/monitoring/checks/check.ts'
import { goingDownAt, graceStart } from '#shared/monitoring/checks/status.ts'
import type { CheckFlip } from '#shared/monitoring/pages/status-history-store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { type Micros, toIsoSeconds } from '#shared/time.ts'
import { distanceText, everyText, humanDuration, relativeTime } from '../frame/format.ts'

/** How a check stands, in words: what is, since when, and what happens next. */
export function statusSentence(
  check: Check,
  status: ShownStatus,
  now: Micros,
  lastFlip: CheckFlip | undefined,
): string {
  const last = check.lastPing === null ? null : relativeTime(check.lastPing, now)
  const running = check.lastStart === null ? '' : ` A run started ${relativeTime(check.lastStart, now)}.`
  switch (status) {
    case 'new':
      return `Waiting for its first ping.${running || ' Send one to the address below; the clock starts then.'}`
    case 'paused':
      return check.manualResume
        ? 'Paused. It stays so until somebody resumes it.'
        : 'Paused. The next ping or a click on “Resume” ends it.'
    case 'down':
      if (check.lastStart !== null && check.status !== 'down')
        return `Down: the run that started ${relativeTime(check.lastStart, now)} took longer than its grace time.`
      return `${downText(check, lastFlip, now)}${last === null ? '' : ` The last ping came ${last}.`}${running}`
    case 'grace': {
      const down = goingDownAt(check, nextOccurrence)
      const until = down === null ? '' : ` It goes down ${relativeTime(down, now)} unless one arrives.`
      return `Late. The last ping came ${last ?? 'long ago'}.${until}${running}`
    }
    case 'up': {
      const due = graceStart(check, nextOccurrence)
      const next = due === null ? '' : ` The next is expected ${relativeTime(due, now)}.`
      return `Up. The last ping came ${last ?? 'a moment ago'}.${next}${running}`
    }
  }
}

/** Since when, and why. A deadline that has passed counts, whether or not the sweep has found it. */
function downText(check: Check, flip: CheckFlip | undefined, now: Micros): string {
  const since = flip?.to === 'down' ? flip.at : check.alertAfter
  if (since === null) return 'Down.'
  const why = flip?.to === 'down' && flip.reason === 'fail' ? 'a failure was reported' : 'no ping came in time'
  return `Down for ${distanceText(since, now)}, since ${toIsoSeconds(since).slice(11, 19)} UTC: ${why}.`
}

/** What is expected, in words. */
export function expectation(check: Check): string {
  const grace = `Late for more than ${humanDuration(check.graceSeconds)}, it goes down.`
  return check.kind === 'simple'
    ? `A ping at least ${everyText(check.timeoutSeconds)}. ${grace}`
    : `A ping after each time of the schedule, by the clock of ${check.tz}. ${grace}`
}
