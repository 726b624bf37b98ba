import { type Micros, microsOfSeconds } from '../../time.ts'
import { guessKind, nextOccurrence } from '../schedules/schedule.ts'
import type { FactIntegration, SkippedReason } from './incident.ts'
import { isAtLeast, type Plan, type RecurringTime, type Severity, type Step, stepOffsets } from './policy.ts'

/** How many entries of a step are due when so much of the plan has passed. */
function entriesDue(step: Step, offset: Micros, elapsed: Micros): number {
  if (elapsed < offset) return 0
  if (!step.repeat) return 1
  const repeats = Math.floor((elapsed - offset) / microsOfSeconds(step.repeat.every))
  return 1 + Math.min(repeats, step.repeat.times ?? Number.POSITIVE_INFINITY)
}

/** Where in the plan an entry of a step lies; null when the step has no such entry. */
export function entryOffset(step: Step, offset: Micros, index: number): Micros | null {
  if (index === 0) return offset
  if (!step.repeat || index > (step.repeat.times ?? Number.POSITIVE_INFINITY)) return null
  return offset + index * microsOfSeconds(step.repeat.every)
}

/** Where an incident stands in its plan: how much of the plan's clock has passed, and which waits were skipped. */
export interface Passed {
  passed: Micros
  /** part of the wait after the step that spoke first, which reached nobody */
  skipped: Micros
  firstStep: number | null
}

/** By how much a step is earlier than its offset: a skipped wait brings on the steps after it, and no repeat of those before. */
export function broughtForward(step: number, { skipped, firstStep }: Pick<Passed, 'skipped' | 'firstStep'>): Micros {
  return firstStep !== null && step > firstStep ? skipped : 0
}

/** All entries up to a moment count as spoken: a plan that changed is spoken from now. */
export function notifiedUpTo(plan: Plan, at: Passed): number[] {
  const offsets = stepOffsets(plan)
  return plan.steps.map((step, index) => entriesDue(step, offsets[index] ?? 0, at.passed + broughtForward(index, at)))
}

/** A step that speaks now. */
export interface StepInstance {
  step: number
  /** 0 for the first time */
  repeat: number
  /** offset of the entry in the plan */
  offset: Micros
}

export interface PlanNow {
  speaking: StepInstance[]
  /** steps that are due and say nothing, with the reason */
  silent: { step: number; reason: SkippedReason }[]
  /** whether a step that is due waits for its hours */
  isOutsideHours: boolean
  notified: number[]
  /** how much of the plan's clock has passed at the next entry; null when there is none */
  nextPassed: Micros | null
  /** when hours begin that a step waits for */
  hoursAt: Micros | null
}

/** What a plan says at a moment. Several entries of one step that were missed are one. */
export function readPlan(
  plan: Plan,
  { notified, severity, now, ...at }: Passed & { notified: readonly number[]; severity: Severity; now: Micros },
): PlanNow {
  const offsets = stepOffsets(plan)
  const result: PlanNow = {
    speaking: [],
    silent: [],
    isOutsideHours: false,
    notified: [],
    nextPassed: null,
    hoursAt: null,
  }
  for (const [index, step] of plan.steps.entries()) {
    const offset = offsets[index] ?? 0
    const spoken = notified[index] ?? 0
    const earlier = broughtForward(index, at)
    const due = entriesDue(step, offset, at.passed + earlier)
    result.notified.push(Math.max(due, spoken))
    if (due > spoken) sendStepNow(result, { step, index, offset, due, spoken, severity, now })
    const nextOffset = entryOffset(step, offset, Math.max(due, spoken))
    if (nextOffset === null) continue
    result.nextPassed = Math.min(nextOffset - earlier, result.nextPassed ?? Number.POSITIVE_INFINITY)
  }
  return result
}

interface DueStep {
  step: Step
  index: number
  offset: Micros
  due: number
  spoken: number
  severity: Severity
  now: Micros
}

function sendStepNow(result: PlanNow, { step, index, offset, due, spoken, severity, now }: DueStep): void {
  if (!isAtLeast(severity, step.severity)) {
    result.silent.push({ step: index, reason: 'BELOW_SEVERITY' })
    return
  }
  if (step.hours.length > 0 && endOfRecurring(step.hours, now) === null) {
    const begins = nextRecurring(step.hours, now)
    if (step.outside === 'skip') {
      result.silent.push({ step: index, reason: 'OUTSIDE_HOURS' })
      return
    }
    // Hours that never come again hold nothing: no hold is for ever.
    if (begins !== null) {
      result.isOutsideHours = true
      result.notified[index] = spoken
      result.hoursAt = Math.min(begins, result.hoursAt ?? begins)
      return
    }
  }
  const repeat = due - 1
  result.speaking.push({ step: index, repeat, offset: entryOffset(step, offset, repeat) ?? offset })
}

/** The integrations of a step: those it names, or the check's own. Names without an integration are left out. */
export function integrationsOf(step: Step, channels: readonly FactIntegration[]): FactIntegration[] {
  const { channels: named } = step
  if (named === null) return channels.filter(({ isOwn }) => isOwn)
  return channels.filter(({ uuid }) => named.includes(uuid))
}

/** Integrations that a step names and that are not there any more. */
export function goneFrom(step: Step, channels: readonly FactIntegration[]): string[] {
  return (step.channels ?? []).filter((uuid) => !channels.some((channel) => channel.uuid === uuid))
}

/** The plan of a policy in words: `at once: Ops chat, again every hour; after 15 min: Phone Anna`. @param nameOf by uuid */
export function planText(plan: Plan, nameOf: (uuid: string) => string): string {
  let offset = 0
  return plan.steps
    .map((step) => {
      offset += step.wait
      return `${offset === 0 ? 'at once' : `after ${spanText(offset)}`}: ${stepText(step, nameOf)}`
    })
    .join('; ')
}

function stepText({ channels, repeat, severity, hours, outside }: Step, nameOf: (uuid: string) => string): string {
  const whom = channels === null ? "the check's own integrations" : channels.map(nameOf).join(', ') || 'nobody'
  const again = repeat ? `, again every ${intervalText(repeat.every)}` : ''
  const times = repeat?.times ? `, ${repeat.times} times` : ''
  const bad = severity === 'info' ? '' : `, if ${severity}${severity === 'warning' ? ' or worse' : ''}`
  const when = hours.length === 0 ? '' : `, in its hours (else ${outside === 'wait' ? 'suppressed' : 'left out'})`
  return `${whom}${again}${times}${bad}${when}`
}

/** After “every”: `hour`, `2 h`. */
function intervalText(seconds: number): string {
  if (seconds === 86_400) return 'day'
  if (seconds === 3600) return 'hour'
  return seconds === 60 ? 'minute' : spanText(seconds)
}

/** `15 min`, `2 h`, `1 day`, `90 s`: the largest unit that leaves nothing over. */
function spanText(seconds: number): string {
  if (seconds > 0 && seconds % 86_400 === 0) return seconds === 86_400 ? '1 day' : `${seconds / 86_400} days`
  if (seconds > 0 && seconds % 3600 === 0) return `${seconds / 3600} h`
  if (seconds > 0 && seconds % 60 === 0) return `${seconds / 60} min`
  return `${seconds} s`
}

/** The end of the recurring time that an instant lies in, the latest of several; null outside of all of them. */
export function endOfRecurring(times: readonly RecurringTime[], at: Micros): Micros | null {
  const ends = times.flatMap((time) => {
    const length = microsOfSeconds(time.for)
    const begin = nextOccurrence(guessKind(time.every), time.every, time.tz, at - length)
    if (begin === null || begin > at) return []
    return [lastBegin(time, begin, at) + length]
  })
  return ends.length === 0 ? null : Math.max(...ends)
}

/** Occurrences may follow each other more closely than they last. */
function lastBegin(time: RecurringTime, first: Micros, at: Micros): Micros {
  let begin = first
  for (let looked = 0; looked < 1000; looked++) {
    const following = nextOccurrence(guessKind(time.every), time.every, time.tz, begin)
    if (following === null || following > at) break
    begin = following
  }
  return begin
}

/** The next begin strictly after an instant; null when none of them begins again. */
export function nextRecurring(times: readonly RecurringTime[], at: Micros): Micros | null {
  const begins = times
    .map((time) => nextOccurrence(guessKind(time.every), time.every, time.tz, at))
    .filter((begin) => begin !== null)
  return begins.length === 0 ? null : Math.min(...begins)
}
