import { type Micros, toIsoSeconds, toSeconds } from '../../time.ts'
import type { Check } from './check.ts'
import { uniqueKey } from './slug.ts'
import { type NextOccurrence, nextPing, shownStatus, shownStatusV1 } from './status.ts'

export interface CheckViewOptions {
  /** public address, without a slash at its end */
  base: string
  version: 1 | 2 | 3
  /** the form for read-only keys: no uuid, no URL that contains it, no integrations */
  readOnly: boolean
  now: Micros
  next: NextOccurrence
}

/** The check object of the API (docs/spec/monitoring.md#check-object). `integrationIds` are the assigned integrations, in any order. */
export function toCheckView(check: Check & { integrationIds: readonly string[] }, options: CheckViewOptions) {
  const status = options.version === 1 ? shownStatusV1 : shownStatus
  const due = nextPing(check, options.next)
  return {
    name: check.name,
    slug: check.slug,
    tags: check.tags,
    desc: check.desc,
    grace: check.graceSeconds,
    n_pings: check.nPings,
    status: status(check, options.now, options.next),
    started: check.lastStart !== null,
    last_ping: check.lastPing === null ? null : toIsoSeconds(check.lastPing),
    next_ping: due === null ? null : toIsoSeconds(due),
    manual_resume: check.manualResume,
    methods: check.methods,
    subject: check.filterSubject ? check.successKw : '',
    subject_fail: check.filterSubject ? check.failureKw : '',
    start_kw: check.startKw,
    success_kw: check.successKw,
    failure_kw: check.failureKw,
    filter_subject: check.filterSubject,
    filter_body: check.filterBody,
    filter_http_body: check.filterHttpBody,
    filter_default_fail: check.filterDefaultFail,
    badge_url: `${options.base}/b/2/${check.badgeKey}.svg`,
    ...lastDuration(check),
    ...(options.readOnly ? { unique_key: uniqueKey(check.uuid) } : identity(check, options)),
    ...(check.kind === 'simple' ? { timeout: check.timeoutSeconds } : { schedule: check.schedule, tz: check.tz }),
  }
}

/** Left out when it is exactly zero; a run of less than a second shows as 0. */
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
