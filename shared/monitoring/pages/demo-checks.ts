import { slugify } from '../checks/slug.ts'

/** A flaky check fails now and then; failed and missed checks stay down; late ones are pinged within their grace time. */
type DemoRole = 'steady' | 'late' | 'flaky' | 'failed' | 'missed' | 'paused' | 'new'

export interface DemoCheck {
  n: number
  name: string
  slug: string
  tags: string
  /** in seconds, like `grace` */
  period: number
  grace: number
  role: DemoRole
}

const JOBS = [
  ['Nightly backup', 'db', 86_400, 3600],
  ['Search index rebuild', 'eu', 900, 3600],
  ['Sitemap generator', 'eu', 604_800, 3600],
  ['Report e-mails', 'reports', 900, 600],
  ['Image pruning', 'platform', 900, 3600],
  ['Orders database backup', 'db', 86_400, 3600],
  ['Invoices export', 'billing', 21_600, 3600],
  ['Mail queue drain', 'platform', 300, 120],
  ['Nightly ledger close', 'billing', 86_400, 3600],
  ['Log rotation', 'platform', 3600, 900],
  ['Payroll run', 'billing', 604_800, 86_400],
  ['Certificate renewal', 'security', 86_400, 43_200],
  ['Vulnerability scan', 'security', 86_400, 7200],
  ['Warehouse sync', 'data', 1800, 900],
  ['Cache warmer', 'platform', 600, 300],
] as const

const SITES = [
  { suffix: '', tags: 'prod', extra: '' },
  { suffix: ' (staging)', tags: 'staging', extra: '' },
  { suffix: ' EU', tags: 'prod', extra: ' eu' },
  { suffix: ' US', tags: 'prod', extra: ' us' },
] as const

/** "Mail queue drain (staging)", which runs every five minutes. */
const FLAKY = 22

export const DEMO_CHECKS: readonly DemoCheck[] = SITES.flatMap(({ suffix, tags, extra }, site) =>
  JOBS.map(([job, tag, period, grace], index) => {
    const n = site * JOBS.length + index
    const name = job + suffix
    return { n, name, slug: slugify(name), tags: `${tags} ${tag}${extra}`, period, grace, role: roleOf(n) }
  }),
)

function roleOf(n: number): DemoRole {
  if (n === FLAKY) return 'flaky'
  if (n % 17 === 12) return 'paused'
  if (n % 23 === 20) return 'new'
  if (n % 9 === 1) return n % 2 === 0 ? 'failed' : 'missed'
  return n % 8 === 3 ? 'late' : 'steady'
}

/** Seconds from the start of a run to its end. */
export function demoDuration({ n }: Pick<DemoCheck, 'n'>, run: number): number {
  return 20 + ((n * 37 + run * 13) % 40)
}

/** Times are seconds before now. A run ends with a success or a failure. */
export interface DemoRun {
  ago: number
  seconds: number
  isFailed: boolean
}

export interface DemoFlip {
  ago: number
  from: string
  to: string
  reason: '' | 'fail' | 'timeout'
}

export const DEMO_DAYS = 90
const DAY = 86_400

/** Returns runs and changes of status, oldest first. Each change follows from the runs beside it. */
export function demoHistory(check: DemoCheck): { runs: DemoRun[]; flips: DemoFlip[] } {
  const { n, period, grace, role } = check
  if (role === 'new') return { runs: [], flips: [] }
  const last = newestRun(check)
  const outages = pastOutages(check, regularRuns(last, period))
  const times = new Set(regularRuns(last, period))
  for (const { from, up } of outages) {
    for (const ago of times) if (ago > up && ago < from) times.delete(ago)
    times.add(up)
  }
  const failed = new Set(outages.filter(({ reason }) => reason === 'fail').map(({ down }) => down))
  if (role === 'failed') failed.add(last)
  const runs = [...times]
    .toSorted((a, b) => b - a)
    .map((ago, run) => ({ ago, seconds: demoDuration(check, run), isFailed: failed.has(ago) }))
  const flips: DemoFlip[] = [{ ago: runs[0]?.ago ?? last, from: 'new', to: 'up', reason: '' }]
  for (const { down, up, reason } of outages)
    flips.push({ ago: down, from: 'up', to: 'down', reason }, { ago: up, from: 'down', to: 'up', reason: '' })
  if (role === 'failed') flips.push({ ago: last, from: 'up', to: 'down', reason: 'fail' })
  if (role === 'missed') flips.push({ ago: last - period - grace, from: 'up', to: 'down', reason: 'timeout' })
  if (role === 'paused') flips.push({ ago: last - (period * (n % 7)) / 9, from: 'up', to: 'paused', reason: '' })
  return { runs, flips }
}

/** Seconds since the newest ping: a check that is down went down about half an hour ago. */
function newestRun({ n, period, grace, role }: DemoCheck): number {
  const sinceRun = (period * (n % 7)) / 9
  if (role === 'failed') return 1320 + n * 60
  if (role === 'missed') return 1320 + n * 60 + period + grace
  if (role === 'paused') return (period % DAY || 40_000) + sinceRun
  return role === 'late' ? period + grace / 3 : sinceRun
}

function regularRuns(last: number, period: number): number[] {
  const count = Math.floor((DEMO_DAYS * DAY - last) / period)
  return Array.from({ length: count }, (_, index) => last + (count - 1 - index) * period)
}

/** `from` is the last run before the outage: the failed one, or the last success before a missed deadline. */
interface Outage {
  from: number
  down: number
  up: number
  reason: 'fail' | 'timeout'
}

/** Outages last minutes to hours, on days that differ by check. */
function pastOutages({ n, period, grace }: DemoCheck, runs: readonly number[]): Outage[] {
  const reason = n % 2 === 0 ? 'fail' : 'timeout'
  const outages: Outage[] = []
  const newest = runs.at(-1) ?? 0
  for (let day = DEMO_DAYS - 1 - (n % 19); day > 1; day -= 11 + (n % 23)) {
    // The first run only makes the check up.
    const from = runs.slice(1).find((ago) => ago <= day * DAY)
    if (from === undefined) continue
    const down = reason === 'fail' ? from : from - period - grace
    const up = down - 600 * (1 + (n % 31))
    if (up > newest + period && from < (outages.at(-1)?.up ?? Number.POSITIVE_INFINITY)) {
      outages.push({ from, down, up, reason })
    }
  }
  return outages
}
