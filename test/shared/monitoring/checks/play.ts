import type { Check } from '#shared/monitoring/checks/check.ts'
import {
  applySignal,
  type PingType,
  pause,
  resume,
  type StatusChange,
  sweep,
} from '#shared/monitoring/checks/state-machine.ts'
import { aCheck } from './factory.ts'

export const T0 = Date.parse('2024-01-10T12:00:00Z') * 1000 + 123_456
export const A = '11111111-1111-1111-1111-111111111111'
export const B = '22222222-2222-2222-2222-222222222222'
export const never = () => null
export const seconds = (count: number) => Math.round(count * 1_000_000)

/** Plays events, given in seconds after T0, on one check with timeout 600 and grace 300. */
export function play(changes: Partial<Check> = {}) {
  const check = aCheck({ timeoutSeconds: 600, graceSeconds: 300, ...changes })
  const flips: StatusChange[] = []
  const note = (flip: StatusChange | null) => {
    if (flip) flips.push(flip)
    return flip
  }
  return {
    check,
    flips,
    path: () => flips.map((flip) => `${flip.from} to ${flip.to}`),
    ping(kind: PingType, after: number, rid: string | null = null) {
      const outcome = applySignal(check, { kind, at: T0 + seconds(after), rid }, never)
      note(outcome.flip)
      return outcome
    },
    sweep(after: number, micros = 0) {
      const decision = sweep(check, T0 + seconds(after) + micros, never)
      if (decision.kind === 'down') {
        check.status = 'down'
        check.alertAfter = null
        note(decision.flip)
      }
      return decision
    },
    pause: () => note(pause(check)),
    resume: () => note(resume(check)),
  }
}
