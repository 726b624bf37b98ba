/**
 * A circuit breaker per target as a value: plain data in, plain data out, so that it can live in a row as well as in
 * memory (docs/spec/transparency.md#webhook-delivery). It opens after some failures in a row, or when 70 % of at least 10 attempts within 5 minutes
 * failed; it stays open 30 s, twice as long after each failed probe, up to a limit; one probe at a time closes it.
 * An attempt that an open breaker holds back is not an attempt: it uses up no place in the retry schedule.
 */
export interface Breaker {
  phase: 'closed' | 'open' | 'half-open'
  consecutiveFailures: number
  /** attempts of the last 5 minutes, counted per 30 s, oldest first */
  samples: readonly Sample[]
  /** when an open breaker lets a probe through, or when a half-open one gives up on its probe; 0 when closed */
  untilMs: number
  /** how long it was opened the last time; 0 when it is healthy */
  openForMs: number
}

interface Sample {
  startMs: number
  ok: number
  failed: number
}

/** `pass` false: hold the attempt back until `atMs`. `breaker` must be stored in either case. */
export interface Admission {
  pass: boolean
  atMs: number
  breaker: Breaker
}

/** What differs between kinds of targets. */
export interface BreakerRules {
  /** failures in a row that open it */
  maxConsecutiveFailures: number
  /** longest time that it stays open before a probe; not less than 30 s */
  maxOpenMs: number
}

/** Targets that customers own: they may be away for hours. */
const deliveryRules: BreakerRules = { maxConsecutiveFailures: 10, maxOpenMs: 15 * 60_000 }

const sampleMs = 30_000
const windowMs = 5 * 60_000
const minAttempts = 10
const failureShare = 0.7
const firstOpenMs = 30_000
/** a probe whose end was never recorded (its process died) makes room for another after this long */
const probeLeaseMs = 60_000

export const closedBreaker: Breaker = { phase: 'closed', consecutiveFailures: 0, samples: [], untilMs: 0, openForMs: 0 }

/** Asks to make one attempt now. */
export function admit(breaker: Breaker, nowMs: number): Admission {
  if (breaker.phase === 'closed') return { pass: true, atMs: nowMs, breaker }
  if (nowMs < breaker.untilMs) return { pass: false, atMs: breaker.untilMs, breaker }
  return { pass: true, atMs: nowMs, breaker: { ...breaker, phase: 'half-open', untilMs: nowMs + probeLeaseMs } }
}

export function recordSuccess(breaker: Breaker, nowMs: number): Breaker {
  // A late answer to an attempt from before the opening does not prove that the target has recovered.
  if (breaker.phase === 'open') return breaker
  if (breaker.phase === 'half-open') return closedBreaker
  return { ...breaker, consecutiveFailures: 0, samples: counted(breaker.samples, nowMs, 'ok') }
}

export function recordFailure(breaker: Breaker, nowMs: number, rules: BreakerRules = deliveryRules): Breaker {
  if (breaker.phase === 'open') return breaker
  if (breaker.phase === 'half-open') return opened(breaker, nowMs, rules)
  const consecutiveFailures = breaker.consecutiveFailures + 1
  const samples = counted(breaker.samples, nowMs, 'failed')
  const next = { ...breaker, consecutiveFailures, samples }
  const isDue = consecutiveFailures >= rules.maxConsecutiveFailures || mostlyFailed(samples)
  return isDue ? opened(next, nowMs, rules) : next
}

function opened(breaker: Breaker, nowMs: number, { maxOpenMs }: BreakerRules): Breaker {
  const openForMs = breaker.openForMs === 0 ? firstOpenMs : Math.min(breaker.openForMs * 2, maxOpenMs)
  return {
    phase: 'open',
    consecutiveFailures: breaker.consecutiveFailures,
    samples: [],
    untilMs: nowMs + openForMs,
    openForMs,
  }
}

function mostlyFailed(samples: readonly Sample[]): boolean {
  const failed = samples.reduce((sum, sample) => sum + sample.failed, 0)
  const all = samples.reduce((sum, sample) => sum + sample.ok, failed)
  return all >= minAttempts && failed >= failureShare * all
}

function counted(samples: readonly Sample[], nowMs: number, end: 'ok' | 'failed'): Sample[] {
  const startMs = Math.floor(nowMs / sampleMs) * sampleMs
  const recent = samples.filter((sample) => sample.startMs > nowMs - windowMs && sample.startMs !== startMs)
  const current = samples.find((sample) => sample.startMs === startMs) ?? { startMs, ok: 0, failed: 0 }
  return [...recent, { ...current, [end]: current[end] + 1 }]
}
