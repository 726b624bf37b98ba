import { lateWork } from '#shared/monitoring/beats/late-work-store.ts'
import { isWatchdogDue, recordFed, recordUnfed, takeWatchdogTurn } from '#shared/monitoring/beats/watchdog-store.ts'
import type { HttpClient } from '#shared/platform/http/http-client.ts'
import { HttpClientError } from '#shared/platform/http/http-error.ts'
import type { Sweep, Tick } from '../sweep.ts'

const REDIRECTS = 3

/**
 * Tells a monitor outside once a minute that this installation works (alerting 5.2), by fetching `WATCHDOG_URL`: only
 * while sweeps come to their end, doors take pings, and nothing has been due for more than two minutes. So whatever
 * stops here, that monitor misses us.
 */
export function watchdog(url: string, http: Pick<HttpClient, 'request'>): Sweep {
  let held = ''
  /** since when work has been late without a break, in monotonic milliseconds */
  let late: { since: number; reasons: string[] } | null = null
  return {
    name: 'watchdog',
    everySeconds: 5,
    async run(tick) {
      const { reserveDb: db, log } = tick.deps
      const undone = await lateWork(db)
      late = undone.length > 0 ? { since: late?.since ?? performance.now(), reasons: undone } : null
      if (!(await isWatchdogDue(db))) return
      const reasons = [...reasonsToHold(tick), ...undone].join('; ')
      if (reasons !== held && reasons !== '') log.warn({ reasons }, 'watchdog.held-back')
      held = reasons
      if (reasons !== '') return await recordUnfed(db, reasons)
      if (!(await takeWatchdogTurn(db))) return
      const problem = await fetchIt(url, http)
      if (problem === null) return await recordFed(db)
      // The address may be a secret: neither log nor database holds it.
      log.warn({ problem }, 'watchdog.not-answered')
      await recordUnfed(db, `the monitor ${problem}`)
    },
    problems(patienceSeconds) {
      if (late === null || performance.now() - late.since < patienceSeconds * 1000) return []
      return late.reasons.map((reason) => `watchdog: held back, since ${reason}`)
    },
  }
}

function reasonsToHold({ isUnsettled, ills }: Tick): string[] {
  const settling = isUnsettled ? ['nothing goes down so soon after a start or a jump of the clock'] : []
  return [...settling, ...(ills?.() ?? [])]
}

/** @returns what went wrong; null when the monitor took it */
async function fetchIt(url: string, http: Pick<HttpClient, 'request'>): Promise<string | null> {
  try {
    const { status } = await http.request({ method: 'GET', url, followRedirects: REDIRECTS })
    return status >= 200 && status < 300 ? null : `answered ${status}`
  } catch (error) {
    if (error instanceof HttpClientError) return `did not answer (${error.failure})`
    throw error
  }
}
