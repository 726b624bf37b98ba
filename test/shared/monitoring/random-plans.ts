import type { Plan, Step } from '#shared/monitoring/alerting/policy.ts'
import { effort } from '../../support/effort.ts'
import { fractionsOf } from '../../support/random.ts'
import { uuidOf } from './alert-scenario.ts'

const SCENARIOS = effort(1_000, 5_000)
const SEED = Number(process.env.ALERT_SEED ?? 20261122)

export const INTEGRATIONS = 3

export function chance(random: () => number) {
  const below = (n: number) => Math.floor(random() * n)
  const pick = <T>(...values: readonly [T, ...T[]]): T => values[below(values.length)] ?? values[0]
  return { below, pick }
}

function randomStep(random: () => number): Step {
  const { below, pick } = chance(random)
  return {
    wait: pick(0, 60, 300, 900, below(2000)),
    channels: pick(null, [uuidOf(1 + below(INTEGRATIONS))], [uuidOf(1), uuidOf(3)]),
    people: [],
    own: null,
    severity: pick('info', 'info', 'warning'),
    repeat: pick(null, { every: 60 + below(1200), times: pick(null, 1, 3) }),
    hours: [],
    outside: 'wait',
  }
}

export function randomPlan(random: () => number): Partial<Plan> {
  const { below, pick } = chance(random)
  return {
    when: { failures: 1, of: null, down_for: pick(0, 0, 45, 200), successes: 1 },
    steps: Array.from({ length: 1 + below(4) }, () => randomStep(random)),
    flapping: pick(null, null, { changes: 3 + below(3), within: 300 + below(2000) }),
  }
}

/** Tests a property in many random scenarios. A failure names the settings that repeat it. */
export function forAll(
  run: (random: () => number, scenario: number) => string | null,
  scenarios = SCENARIOS,
): string | null {
  const only = process.env.ALERT_SCENARIO
  const first = only === undefined ? 0 : Number(only)
  for (let scenario = first; scenario < (only === undefined ? scenarios : first + 1); scenario++) {
    const failure = run(fractionsOf(SEED + scenario * 7919), scenario)
    if (failure !== null) return `ALERT_SEED=${SEED} ALERT_SCENARIO=${scenario}: ${failure}`
  }
  return null
}
