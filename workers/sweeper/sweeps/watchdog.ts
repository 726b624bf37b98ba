import { lateWork } from '#shared/monitoring/availability/late-work-store.ts'
import {
  claimWatchdog,
  isWatchdogDue,
  recordWatchdogProblem,
  recordWatchdogResponse,
} from '#shared/monitoring/availability/watchdog-store.ts'
import type { HttpClient } from '#shared/platform/http/http-client.ts'
import { HttpClientError } from '#shared/platform/http/http-error.ts'
import type { Sweep, Tick } from '../sweep.ts'

const MAX_REDIRECTS = 3

/**
 * Fetches `WATCHDOG_URL` once a minute (docs/spec/alerting.md#coverage-gaps), but only while all sweeps finish,
 * listeners accept pings, and no work has been due for two minutes. The external monitor alerts when requests stop.
 */
export function watchdog(url: string, http: Pick<HttpClient, 'request'>): Sweep {
  let lastReasons = ''
  /** `since` is in monotonic milliseconds */
  let late: { since: number; reasons: string[] } | null = null
  return {
    name: 'watchdog',
    everySeconds: 5,
    async run(tick) {
      const { reserveDb: db, log } = tick.deps
      const lateReasons = await lateWork(db)
      late = lateReasons.length > 0 ? { since: late?.since ?? performance.now(), reasons: lateReasons } : null
      if (!(await isWatchdogDue(db))) return
      const reasons = [...reasonsToSkip(tick), ...lateReasons].join('; ')
      if (reasons !== lastReasons && reasons !== '') log.warn({ reasons }, 'watchdog.skipped')
      lastReasons = reasons
      if (reasons !== '') return await recordWatchdogProblem(db, reasons)
      if (!(await claimWatchdog(db))) return
      const problem = await fetchMonitor(url, http)
      if (problem === null) return await recordWatchdogResponse(db)
      // The URL may be a secret, so neither log nor database contains it.
      log.warn({ problem }, 'watchdog.not-answered')
      await recordWatchdogProblem(db, `the monitor ${problem}`)
    },
    problems(maxWaitSeconds) {
      if (late === null || performance.now() - late.since < maxWaitSeconds * 1000) return []
      return late.reasons.map((reason) => `watchdog: skipped, because ${reason}`)
    },
  }
}

function reasonsToSkip({ isUnsettled, otherProblems }: Tick): string[] {
  const unsettled = isUnsettled
    ? ['deadlines are not evaluated yet after a start, a clock jump or a database outage']
    : []
  return [...unsettled, ...(otherProblems?.() ?? [])]
}

/** @returns null for a 2xx response, otherwise the problem as a verb phrase */
async function fetchMonitor(url: string, http: Pick<HttpClient, 'request'>): Promise<string | null> {
  try {
    const { status } = await http.request({ method: 'GET', url, followRedirects: MAX_REDIRECTS })
    return status >= 200 && status < 300 ? null : `answered ${status}`
  } catch (error) {
    if (error instanceof HttpClientError) return `did not answer (${error.failure})`
    throw error
  }
}
