/**
 * State of a circuit breaker, which is stored in a row (docs/spec/transparency.md#webhook-delivery). The breaker opens
 * after consecutive failures, or when 70 % of at least 10 attempts within 5 minutes failed. It stays open for 30 s, and
 * twice as long after each failed probe.
 */
export interface Breaker {
  phase: 'closed' | 'open' | 'half-open'
  consecutiveFailures: number
  /** attempts of the last 5 minutes, one sample per 30 s, oldest first */
  samples: readonly Sample[]
  /** end of an open breaker's pause, or of a half-open one's wait for its probe; 0 when closed */
  untilMs: number
  openForMs: number
}

interface Sample {
  startMs: number
  ok: number
  failed: number
}

/** If `pass` is false, the caller postpones the attempt until `atMs`. It stores `breaker` in either case. */
export interface Admission {
  pass: boolean
  atMs: number
  breaker: Breaker
}

export interface BreakerRules {
  maxConsecutiveFailures: number
  /** at least 30 s */
  maxOpenMs: number
}

/** for endpoints of customers, which may be unreachable for hours */
const deliveryRules: BreakerRules = { maxConsecutiveFailures: 10, maxOpenMs: 15 * 60_000 }

const sampleMs = 30_000
const windowMs = 5 * 60_000
const minAttempts = 10
const failureShare = 0.7
const firstOpenMs = 30_000
/** after this time a new probe may start, because the process of the previous one may have died */
const probeLeaseMs = 60_000

export const closedBreaker: Breaker = { phase: 'closed', consecutiveFailures: 0, samples: [], untilMs: 0, openForMs: 0 }

export function admit(breaker: Breaker, nowMs: number): Admission {
  if (breaker.phase === 'closed') return { pass: true, atMs: nowMs, breaker }
  if (nowMs < breaker.untilMs) return { pass: false, atMs: breaker.untilMs, breaker }
  return { pass: true, atMs: nowMs, breaker: { ...breaker, phase: 'half-open', untilMs: nowMs + probeLeaseMs } }
}

export function recordSuccess(breaker: Breaker, nowMs: number): Breaker {
  // A late response to an attempt from before the opening does not prove that the target has recovered.
  if (breaker.phase === 'open') return breaker
  if (breaker.phase === 'half-open') return closedBreaker
  return { ...breaker, consecutiveFailures: 0, samples: addSample(breaker.samples, nowMs, 'ok') }
}

export function recordFailure(breaker: Breaker, nowMs: number, rules: BreakerRules = deliveryRules): Breaker {
  if (breaker.phase === 'open') return breaker
  if (breaker.phase === 'half-open') return opened(breaker, nowMs, rules)
  const consecutiveFailures = breaker.consecutiveFailures + 1
  const samples = addSample(breaker.samples, nowMs, 'failed')
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

function addSample(samples: readonly Sample[], nowMs: number, end: 'ok' | 'failed'): Sample[] {
  const startMs = Math.floor(nowMs / sampleMs) * sampleMs
  const recent = samples.filter((sample) => sample.startMs > nowMs - windowMs && sample.startMs !== startMs)
  const current = samples.find((sample) => sample.startMs === startMs) ?? { startMs, ok: 0, failed: 0 }
  return [...recent, { ...current, [end]: current[end] + 1 }]
}
