import type { FactPerson, PeopleFacts } from '#shared/monitoring/alerting/incident.ts'
import { IMPLICIT_PLAN, type Plan, type Step, type StepTarget } from '#shared/monitoring/alerting/policy.ts'
import { SECOND, START, uuidOf } from './alert-scenario.ts'
import { chance } from './random-plans.ts'

/** `schedule` gives the uuid of the n-th schedule. */
export const scheduleId = (n: number) => uuidOf(500 + n)
export const onCall = (n: number): StepTarget => ({ schedule: scheduleId(n) })
export const person = (name: string): StepTarget => ({ person: address(name) })
export const address = (name: string) => `${name}@example.org`

const STEP: Step = { ...(IMPLICIT_PLAN.steps[0] as Step), channels: [], own: false }
export const stepOf = (wait: number, more: Partial<Step> = {}): Step => ({ ...STEP, wait, ...more })

/** A person with the methods `<name>-<kind>`. Entries are seconds and kinds; default: a mail at once. */
export function factPerson(
  userId: number,
  name: string,
  entries: readonly (readonly [number, string])[] = [[0, 'email']],
  more: Partial<FactPerson> = {},
): FactPerson {
  const planned = entries.map(([after, kind]) => ({ after, method: `${name}-${kind}` }))
  const method = (kind: FactPerson['methods'][number]['kind'], recoveries: boolean) => ({
    ...{ id: `${name}-${kind}`, kind, recoveries, isUsable: true },
  })
  return {
    userId,
    address: address(name),
    name,
    methods: [method('email', true), method('ntfy', true), method('sms', false), method('call', false)],
    critical: planned,
    other: planned,
    quiet: [],
    ...more,
  }
}

/** Shifts of one schedule: the second from which each person, or no person, is on call. */
export type Shifts = readonly (readonly [from: number, name: string | null])[]

export function peopleFacts(
  people: readonly FactPerson[],
  schedules: readonly Shifts[] = [],
): (now: number) => Pick<PeopleFacts, 'schedules' | 'people'> {
  return (now) => ({
    people,
    schedules: schedules.map((shifts, index) => {
      const at = (from: number) => START + from * SECOND
      const current = shifts.findLast(([from]) => at(from) <= now)
      const next = shifts.find(([from]) => at(from) > now)
      const name = current?.[1] ?? null
      return {
        id: scheduleId(index + 1),
        name: `Schedule ${index + 1}`,
        person: name === null ? null : address(name),
        until: next ? at(next[0]) : null,
      }
    }),
  })
}

export const NAMES = ['anna', 'ben', 'carl', 'dora'] as const
const KINDS = ['email', 'ntfy', 'sms', 'call'] as const

export function randomPeople(random: () => number): FactPerson[] {
  const { below, pick } = chance(random)
  return NAMES.map((name, index) => {
    const entry = () => [pick(0, 0, 60, 300, below(2000)), pick(...KINDS)] as const
    const entries = Array.from({ length: below(4) }, entry)
    const key = (one: readonly [number, string]) => one.join()
    const unique = entries.filter((one, at) => entries.findIndex((other) => key(other) === key(one)) === at)
    const quiet = pick([], [{ every: '0 10 * * *', for: 600 + below(3000), tz: 'UTC' }])
    const sorted = unique.toSorted((a, b) => a[0] - b[0])
    return factPerson(index + 1, name, sorted, { quiet })
  })
}

export function randomPlan(random: () => number): Partial<Plan> {
  const { below, pick } = chance(random)
  const targets = () => Array.from({ length: below(3) }, () => pick(onCall(1), onCall(2), person(pick(...NAMES))))
  const steps = Array.from({ length: 1 + below(3) }, () =>
    stepOf(pick(0, 60, 900, below(2000)), {
      people: targets(),
      channels: pick([], [], [uuidOf(1)]),
      repeat: pick(null, null, { every: 60 + below(1200), times: pick(null, 1, 3) }),
      severity: pick('info', 'info', 'warning'),
    }),
  )
  const fallback = { wait: 60 + below(1000), people: [...targets(), person('dora')], channels: [] }
  return { steps, fallback: pick(null, fallback), group: { checks: 20, within: pick(0, 0, 60) }, notify_ack: true }
}
