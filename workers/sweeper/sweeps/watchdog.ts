import { lateWork } from '#shared/monitoring/availability/late-work-store.ts'
import { claimWatchdog, isWatchdogDue, recordFed, recordUnfed } from '#shared/monitoring/availability/watchdog-store.ts'
import type { HttpClient } from '#shared/platform/http/http-client.ts'
import { HttpClientError } from '#shared/platform/http/http-error.ts'
import type { Sweep, Tick } from '../sweep.ts'

const REDIRECTS = 3

/**
 * Fetches `WATCHDOG_URL` once a minute (docs/spec/alerting.md#coverage-gaps), only while sweeps finish, listeners
 * accept pings, and no work has been due for two minutes. If any part stops, the external monitor notices the missing
 * report.
 */
export function watchdog(url: string, http: Pick<HttpClient, 'request'>): Sweep {
  let suppression = ''
  /** late continuously; monotonic milliseconds */
  let late: { since: number; reasons: string[] } | null = null
  return {
    name: 'watchdog',
    everySeconds: 5,
    async run(tick) {
      const { reserveDb: db, log } = tick.deps
      const undone = await lateWork(db)
      late = undone.length > 0 ? { since: late?.since ?? performance.now(), reasons: undone } : null
      if (!(await isWatchdogDue(db))) return
      const reasons = [...reasonsToWithhold(tick), ...undone].join('; ')
      if (reasons !== suppression && reasons !== '') log.warn({ reasons }, 'watchdog.withheld')
      suppression = reasons
      if (reasons !== '') return await recordUnfed(db, reasons)
      if (!(await claimWatchdog(db))) return
      const problem = await fetchIt(url, http)
      if (problem === null) return await recordFed(db)
      // The URL may be a secret, so neither log nor database contains it.
      log.warn({ problem }, 'watchdog.not-answered')
      await recordUnfed(db, `the monitor ${problem}`)
    },
    problems(maxWaitSeconds) {
      if (late === null || performance.now() - late.since < maxWaitSeconds * 1000) return []
      return late.reasons.map((reason) => `watchdog: held back, since ${reason}`)
    },
  }
}

function reasonsToWithhold({ isUnsettled, ills }: Tick): string[] {
  const settling = isUnsettled ? ['nothing goes down so soon after a start or a jump of the clock'] : []
  return [...settling, ...(ills?.() ?? [])]
}

/** Null if the monitor accepted the report. */
async function fetchIt(url: string, http: Pick<HttpClient, 'request'>): Promise<string | null> {
  try {
    const { status } = await http.request({ method: 'GET', url, followRedirects: REDIRECTS })
    return status >= 200 && status < 300 ? null : `answered ${status}`
  } catch (error) {
    if (error instanceof HttpClientError) return `did not answer (${error.failure})`
    throw error
  }
}
