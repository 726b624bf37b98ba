import { type Micros, toIsoSeconds, toSeconds } from '../../time.ts'
import type { Check, NextOccurrence } from './check.ts'
import { ACCEPTANCE_FIELDS, IDENTITY_FIELDS, KEYWORD_FIELDS, toApi } from './fields.ts'
import { uniqueKey } from './slug.ts'
import { nextPing, shownStatus, shownStatusV1 } from './status.ts'

export interface CheckViewOptions {
  base: string
  version: 1 | 2 | 3
  /** for read-only keys: without the uuid, URLs that contain it, and integrations */
  readOnly: boolean
  now: Micros
  next: NextOccurrence
}

/** See docs/spec/monitoring.md#check-object. `integrationIds` are in any order. */
export function toCheckView(check: Check & { integrationIds: readonly string[] }, options: CheckViewOptions) {
  const status = options.version === 1 ? shownStatusV1 : shownStatus
  const due = nextPing(check, options.next)
  return {
    ...toApi(IDENTITY_FIELDS, check),
    grace: check.graceSeconds,
    n_pings: check.nPings,
    status: status(check, options.now, options.next),
    started: check.lastStart !== null,
    last_ping: check.lastPing === null ? null : toIsoSeconds(check.lastPing),
    next_ping: due === null ? null : toIsoSeconds(due),
    ...toApi(ACCEPTANCE_FIELDS, check),
    subject: check.filterSubject ? check.successKw : '',
    subject_fail: check.filterSubject ? check.failureKw : '',
    ...toApi(KEYWORD_FIELDS, check),
    badge_url: `${options.base}/b/2/${check.badgeKey}.svg`,
    ...lastDuration(check),
    ...(options.readOnly ? { unique_key: uniqueKey(check.uuid) } : identity(check, options)),
    ...(check.kind === 'simple' ? { timeout: check.timeoutSeconds } : { schedule: check.schedule, tz: check.tz }),
  }
}

/** Omitted if zero; a run shorter than a second is shown as 0. */
function lastDuration(check: Check) {
  if (check.lastDuration === null || check.lastDuration === 0) return {}
  return { last_duration: Math.floor(toSeconds(check.lastDuration)) }
}

function identity(check: Check & { integrationIds: readonly string[] }, { base, version }: CheckViewOptions) {
  const updateUrl = `${base}/api/v${version}/checks/${check.uuid}`
  return {
    uuid: check.uuid,
    ping_url: `${base}/ping/${check.uuid}`,
    update_url: updateUrl,
    pause_url: `${updateUrl}/pause`,
    resume_url: `${updateUrl}/resume`,
    channels: check.integrationIds.toSorted().join(','),
  }
}
