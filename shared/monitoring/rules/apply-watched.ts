import { type Micros, toSeconds } from '../../time.ts'
import type { NextOccurrence } from '../checks/check.ts'
import { applySignal, type CheckMachine, type Signal, type SignalOutcome } from '../checks/state-machine.ts'
import { aliveDeadline, countMissed, runDeadline, watchedDeadline } from './deadline.ts'
import { beginFlags, failsOn, finishFlags } from './flags.ts'
import { BUCKETS, RUN_LOG, type Run, type RunBook, type RunFlag } from './run.ts'

export interface RunSignal extends Signal {
  source: string
}

/**
 * Changes `check` and `book` in place (docs/spec/alerting.md#watched-runs). With `last`, only `max` and flags that
 * make a ping fail differ from applySignal. With `each`, every run has its own deadline, and a success brings the
 * check up unless one has passed.
 */
export function applyWatched(
  check: CheckMachine,
  book: RunBook,
  signal: RunSignal,
  next: NextOccurrence,
): SignalOutcome {
  const isIgnored = signal.kind === 'ign' || (check.status === 'paused' && check.manualResume)
  if (isIgnored || signal.kind === 'log') {
    const outcome = applySignal(check, signal, next)
    if (isIgnored) return outcome
    keepAlive(book, signal)
    check.alertAfter = watchedDeadline(check, book, next)
    return outcome
  }
  const outcome =
    signal.kind === 'start' ? applyStart(check, book, signal, next) : applyFinish(check, book, signal, next)
  check.alertAfter = watchedDeadline(check, book, next)
  return outcome
}

function keepAlive(book: RunBook, { rid, at }: RunSignal): void {
  if (book.rule.watch !== 'each' || rid === null) return
  const run = book.open.find((it) => it.rid === rid)
  if (run) change(book, run, { deadline: aliveDeadline(book.rule, run, at) })
}

function applyStart(check: CheckMachine, book: RunBook, signal: RunSignal, next: NextOccurrence): SignalOutcome {
  const { rid, at } = signal
  const isEach = book.rule.watch === 'each'
  const known = isEach && rid !== null ? book.open.find((run) => run.rid === rid) : undefined
  if (known) {
    keepAlive(book, signal)
    check.nPings += 1
    return { type: 'start', flip: null, late: false }
  }
  if (isStartOfPast(check, book, signal)) {
    return isEach ? { ...applySignal(check, signal, next), late: false } : applySignal(check, signal, next)
  }

  const flags = startFlags(check, book, at, next)
  if (!isEach || rid === null) for (const run of replaced(book, rid)) end(book, run, 'abandoned', at)
  const outcome = applySignal(check, failsOn(book, flags) ? { ...signal, kind: 'fail' } : signal, next)
  // A start that counts as a failure still opens a run, so that its duration is measured.
  check.lastStart = at
  check.lastStartRid = rid
  const run = add(book, { rid, source: signal.source, startedAt: at, finishedAt: null, outcome: 'open', flags })
  run.deadline = runDeadline(check, book.rule, at)
  book.open.push(run)
  book.tally.beganAt = at
  while (book.open.length > book.rule.open) {
    const [oldest] = book.open
    if (!oldest) break
    end(book, oldest, 'abandoned', at)
    book.tally.abandonedAt = at
  }
  if (isEach) showNewest(check, book)
  return isEach ? { ...outcome, late: false } : outcome
}

/** With `last` all, with `each` those with the same run id. */
function replaced({ rule, open }: RunBook, rid: string | null): Run[] {
  return open.filter((run) => rule.watch === 'last' || run.rid === rid)
}

/** A start that arrives after its finish or a newer ping opens no run. */
function isStartOfPast(check: CheckMachine, book: RunBook, { rid, at }: RunSignal): boolean {
  const finished = rid === null ? undefined : book.headless.find((run) => run.rid === rid)
  if (finished && (finished.finishedAt ?? 0) >= at) {
    change(book, finished, { startedAt: at, duration: (finished.finishedAt ?? at) - at })
    return true
  }
  const isBehind = check.lastPing !== null && at < check.lastPing
  if (book.rule.watch === 'each') return rid === null && isBehind
  return isBehind || (check.lastStart !== null && at < check.lastStart)
}

function startFlags(check: CheckMachine, book: RunBook, at: Micros, next: NextOccurrence): RunFlag[] {
  const overlaps = book.rule.overlap === 'flag' && book.open.length > 0
  return [...beginFlags(check, book, at, next), ...(overlaps ? (['OVERLAP'] as const) : [])]
}

function applyFinish(check: CheckMachine, book: RunBook, signal: RunSignal, next: NextOccurrence): SignalOutcome {
  const { rid, at, source } = signal
  const started = book.open.find((it) => it.rid === rid && (it.startedAt ?? 0) <= at)
  const isNewest = check.lastPing === null || at >= check.lastPing
  const run =
    started ??
    add(book, {
      rid,
      source,
      startedAt: null,
      finishedAt: at,
      outcome: 'success',
      flags: beginFlags(check, book, at, next),
    })
  if (!started) book.tally.beganAt = Math.max(book.tally.beganAt ?? 0, at)
  if (!started && rid !== null) book.headless.push(run)
  const duration = run.startedAt === null ? null : at - run.startedAt
  const flags = [...run.flags, ...finishFlags(book, { ...run, duration }, at)]
  // The flags of the start were applied when the run began.
  const newFlags = started ? flags.slice(run.flags.length) : flags
  const kind = signal.kind === 'fail' || failsOn(book, newFlags) ? 'fail' : 'success'
  count(check, book, { kind, duration, isNewest, beganAt: run.startedAt, at }, next)
  change(book, run, { duration, flags })
  if (started) end(book, started, kind, at)
  else run.outcome = kind
  if (book.rule.watch === 'last') {
    // A fail, and a success without a run id, close the open run with any id.
    if (kind === 'fail' || rid === null)
      for (const other of [...book.open]) if ((other.startedAt ?? 0) <= at) end(book, other, 'abandoned', at)
    return applySignal(check, { ...signal, kind }, next)
  }
  return finishEach(check, book, { kind, at, duration, isNewest })
}

function finishEach(
  check: CheckMachine,
  book: RunBook,
  {
    kind,
    at,
    duration,
    isNewest,
  }: { kind: 'success' | 'fail'; at: Micros; duration: Micros | null; isNewest: boolean },
): SignalOutcome {
  check.nPings += 1
  if (isNewest) {
    check.lastPing = at
    check.lastDuration = duration
  }
  showNewest(check, book)
  const from = check.status
  const to = kind === 'fail' ? 'down' : 'up'
  const isForcedDown = to === 'up' && book.open.some(({ deadline }) => deadline !== null && deadline < at)
  if (!isNewest || from === to || isForcedDown) return { type: kind, flip: null, late: false }
  check.status = to
  return { type: kind, flip: { from, to, reason: kind === 'fail' ? 'fail' : '', processed: false }, late: false }
}

/** The API shows the newest open run. */
function showNewest(check: CheckMachine, { open }: RunBook): void {
  const newest = open.toSorted((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0)).at(-1)
  check.lastStart = newest?.startedAt ?? null
  check.lastStartRid = newest?.rid ?? null
}

function count(
  check: CheckMachine,
  { tally }: RunBook,
  finish: { kind: 'success' | 'fail'; duration: Micros | null; isNewest: boolean; beganAt: Micros | null; at: Micros },
  next: NextOccurrence,
): void {
  tally.streak = finish.kind === 'success' ? tally.streak + 1 : 0
  if (finish.isNewest) tally.missed += countMissed(check, { ...finish, lastPing: check.lastPing }, next)
  if (finish.duration === null) return
  const seconds = toSeconds(finish.duration)
  const bucket = BUCKETS.findIndex((border) => seconds <= border)
  if (bucket >= 0) tally.buckets[bucket] = (tally.buckets[bucket] ?? 0) + 1
  tally.measured += 1
  tally.seconds += seconds
}

function add(book: RunBook, run: Pick<Run, 'rid' | 'source' | 'startedAt' | 'finishedAt' | 'outcome' | 'flags'>): Run {
  book.tally.runs += 1
  const added: Run = { ...run, n: book.tally.runs, duration: null, deadline: null }
  book.changed.add(added)
  // The new run has overwritten older ones in the ring.
  book.open = book.open.filter(({ n }) => n > added.n - RUN_LOG)
  return added
}

function end(book: RunBook, run: Run, outcome: Run['outcome'], at: Micros): void {
  change(book, run, { outcome, finishedAt: outcome === 'abandoned' ? null : at })
  book.open = book.open.filter((other) => other !== run)
}

function change(book: RunBook, run: Run, changes: Partial<Run>): void {
  Object.assign(run, changes)
  book.changed.add(run)
}
