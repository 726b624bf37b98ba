import { type Micros, microsOfSeconds } from '../../time.ts'
import { guessKind, nextOccurrence } from '../schedules/schedule.ts'
import type { FactIntegration } from './incident.ts'
import {
  isAtLeast,
  type Plan,
  type RecurringTime,
  type Severity,
  type Step,
  type StepTarget,
  stepOffsets,
  usesOwn,
} from './policy.ts'
import type { SkippedReason } from './reasons.ts'

function entriesDue(step: Step, offset: Micros, elapsed: Micros): number {
  if (elapsed < offset) return 0
  if (!step.repeat) return 1
  const repeats = Math.floor((elapsed - offset) / microsOfSeconds(step.repeat.every))
  return 1 + Math.min(repeats, step.repeat.times ?? Number.POSITIVE_INFINITY)
}

export function entryOffset(step: Step, offset: Micros, index: number): Micros | null {
  if (index === 0) return offset
  if (!step.repeat || index > (step.repeat.times ?? Number.POSITIVE_INFINITY)) return null
  return offset + index * microsOfSeconds(step.repeat.every)
}

export interface Passed {
  passed: Micros
  skips: readonly Micros[]
}

/** A skipped wait moves later steps, but no repeats of earlier ones. */
export function broughtForward(step: number, { skips }: Pick<Passed, 'skips'>): Micros {
  return skips.slice(0, step + 1).reduce((sum, skip) => sum + skip, 0)
}

/** Brings a step and all later ones forward by this time. */
export function withSkip(skips: readonly Micros[], step: number, time: Micros): Micros[] {
  return Array.from({ length: Math.max(skips.length, step + 1) }, (_, index) => {
    return (skips[index] ?? 0) + (index === step ? time : 0)
  })
}

/** Returns the first step after those that were sent, for this severity; null if there is none. */
export function furtherStep(
  plan: Plan,
  { notified, severity }: { notified: readonly number[]; severity: Severity },
): number | null {
  const last = notified.findLastIndex((entries) => entries > 0)
  const next = plan.steps.findIndex((step, index) => index > last && isAtLeast(severity, step.severity))
  return next === -1 ? null : next
}

/** Due entries count as sent when a plan changes. */
export function notifiedUpTo(plan: Plan, at: Passed): number[] {
  const offsets = stepOffsets(plan)
  return plan.steps.map((step, index) => entriesDue(step, offsets[index] ?? 0, at.passed + broughtForward(index, at)))
}

export interface StepInstance {
  step: number
  repeat: number
  offset: Micros
}

export interface PlanNow {
  due: StepInstance[]
  skipped: { step: number; reason: SkippedReason }[]
  isOutsideHours: boolean
  notified: number[]
  nextPassed: Micros | null
  hoursAt: Micros | null
}

/** Several missed entries of one step count as one. */
export function readPlan(
  plan: Plan,
  { notified, severity, now, ...at }: Passed & { notified: readonly number[]; severity: Severity; now: Micros },
): PlanNow {
  const offsets = stepOffsets(plan)
  const result: PlanNow = {
    due: [],
    skipped: [],
    isOutsideHours: false,
    notified: [],
    nextPassed: null,
    hoursAt: null,
  }
  for (const [index, step] of plan.steps.entries()) {
    const offset = offsets[index] ?? 0
    const sent = notified[index] ?? 0
    const earlier = broughtForward(index, at)
    const due = entriesDue(step, offset, at.passed + earlier)
    result.notified.push(Math.max(due, sent))
    if (due > sent) addDueStep(result, { step, index, offset, due, sent, severity, now })
    const nextOffset = entryOffset(step, offset, Math.max(due, sent))
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
  sent: number
  severity: Severity
  now: Micros
}

function addDueStep(result: PlanNow, { step, index, offset, due, sent, severity, now }: DueStep): void {
  if (!isAtLeast(severity, step.severity)) {
    result.skipped.push({ step: index, reason: 'BELOW_SEVERITY' })
    return
  }
  if (step.hours.length > 0 && endOfRecurring(step.hours, now) === null) {
    const begins = nextRecurring(step.hours, now)
    if (step.outside === 'skip') {
      result.skipped.push({ step: index, reason: 'OUTSIDE_HOURS' })
      return
    }
    // Hours that never begin again are ignored, otherwise the step would wait forever.
    if (begins !== null) {
      result.isOutsideHours = true
      result.notified[index] = sent
      result.hoursAt = Math.min(begins, result.hoursAt ?? begins)
      return
    }
  }
  const repeat = due - 1
  result.due.push({ step: index, repeat, offset: entryOffset(step, offset, repeat) ?? offset })
}

export function integrationsOf(step: Step, integrations: readonly FactIntegration[]): FactIntegration[] {
  const isOwnUsed = usesOwn(step)
  return integrations.filter(({ uuid, isOwn }) => (isOwnUsed && isOwn) || step.channels?.includes(uuid))
}

export function deletedIntegrationsOf(step: Step, integrations: readonly FactIntegration[]): string[] {
  return (step.channels ?? []).filter((uuid) => !integrations.some((integration) => integration.uuid === uuid))
}

export interface PlanLine {
  /** `at once`, `after 15 min` */
  at: string
  /** `Ops chat, again every hour` */
  whom: string
}

/** Returns one line per step and one for the fallback. `nameOf` gets uuids of integrations and schedules. */
export function planLines({ steps, fallback }: Plan, nameOf: (uuid: string) => string): PlanLine[] {
  let offset = 0
  const lines = steps.map((step) => {
    offset += step.wait
    return { at: offset === 0 ? 'at once' : `after ${spanText(offset)}`, whom: stepText(step, nameOf) }
  })
  if (!fallback) return lines
  const recipients = [...fallback.people.map((target) => targetText(target, nameOf)), ...fallback.channels.map(nameOf)]
  return [...lines, { at: `${spanText(fallback.wait)} after the last notification`, whom: recipients.join(', ') }]
}

function targetText(target: StepTarget, nameOf: (uuid: string) => string): string {
  return 'person' in target ? target.person : `on call in ${nameOf(target.schedule)}`
}

/** `at once: Ops chat, again every hour; after 15 min: Phone Anna` */
export function planText(plan: Plan, nameOf: (uuid: string) => string): string {
  return planLines(plan, nameOf)
    .map(({ at, whom }) => `${at}: ${whom}`)
    .join('; ')
}

function stepText(step: Step, nameOf: (uuid: string) => string): string {
  const { channels: integrations, people, repeat, severity, hours, outside } = step
  const named = [...people.map((target) => targetText(target, nameOf)), ...(integrations ?? []).map(nameOf)]
  if (usesOwn(step)) named.push('the integrations of the check')
  const recipients = named.join(', ') || 'no integration'
  const again = repeat ? `, again every ${intervalText(repeat.every)}` : ''
  const times = repeat?.times ? `, ${repeat.times} times` : ''
  const bad = severity === 'info' ? '' : `, if ${severity}${severity === 'warning' ? ' or worse' : ''}`
  const when = hours.length === 0 ? '' : `, in its hours (else ${outside === 'wait' ? 'delayed' : 'skipped'})`
  return `${recipients}${again}${times}${bad}${when}`
}

function intervalText(seconds: number): string {
  if (seconds === 86_400) return 'day'
  if (seconds === 3600) return 'hour'
  return seconds === 60 ? 'minute' : spanText(seconds)
}

/** Uses the largest unit without a remainder: `15 min`, `2 h`, `1 day` or `90 s`. */
function spanText(seconds: number): string {
  if (seconds > 0 && seconds % 86_400 === 0) return seconds === 86_400 ? '1 day' : `${seconds / 86_400} days`
  if (seconds > 0 && seconds % 3600 === 0) return `${seconds / 3600} h`
  if (seconds > 0 && seconds % 60 === 0) return `${seconds / 60} min`
  return `${seconds} s`
}

export function endOfRecurring(times: readonly RecurringTime[], at: Micros): Micros | null {
  const ends = times.flatMap((time) => {
    const length = microsOfSeconds(time.for)
    const begin = nextOccurrence(guessKind(time.every), time.every, time.tz, at - length)
    if (begin === null || begin > at) return []
    return [lastBegin(time, begin, at) + length]
  })
  return ends.length === 0 ? null : Math.max(...ends)
}

/** Returns the earliest beginning of the times that contain `at`; null if none does. */
export function beginOfRecurring(times: readonly RecurringTime[], at: Micros): Micros | null {
  const begins = times
    .map((time) => nextOccurrence(guessKind(time.every), time.every, time.tz, at - microsOfSeconds(time.for)))
    .filter((begin) => begin !== null)
    .filter((begin) => begin <= at)
  return begins.length === 0 ? null : Math.min(...begins)
}

function lastBegin(time: RecurringTime, first: Micros, at: Micros): Micros {
  let begin = first
  for (let count = 0; count < 1000; count++) {
    const following = nextOccurrence(guessKind(time.every), time.every, time.tz, begin)
    if (following === null || following > at) break
    begin = following
  }
  return begin
}

export function nextRecurring(times: readonly RecurringTime[], at: Micros): Micros | null {
  const begins = times
    .map((time) => nextOccurrence(guessKind(time.every), time.every, time.tz, at))
    .filter((begin) => begin !== null)
  return begins.length === 0 ? null : Math.min(...begins)
}
