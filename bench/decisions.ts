import { decide } from '#shared/monitoring/alerting/decide.ts'
import type { FactIntegration, Facts } from '#shared/monitoring/alerting/incident.ts'
import { IMPLICIT_PLAN, type Plan, type Step } from '#shared/monitoring/alerting/policy.ts'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { BEGIN } from '#shared/monitoring/checks/state-machine.ts'
import { Simulation } from '#shared/monitoring/simulation/simulation.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { median } from './load.ts'
import type { Row } from './table.ts'

const PINGS = 1_000
const EVALUATIONS = 50_000
const OUTAGE = 25
const MINUTE: Micros = microsOfSeconds(60)
const START: Micros = microsOfSeconds(1_763_856_000)

const step: Step = {
  wait: 0,
  channels: null,
  people: [],
  own: null,
  severity: 'info',
  repeat: { every: 3600, times: null },
  hours: [],
  outside: 'wait',
}
const PLAN: Plan = {
  ...IMPLICIT_PLAN,
  when: { failures: 2, of: 5, down_for: 120, successes: 1 },
  steps: [step, { ...step, wait: 900, repeat: { every: 600, times: 3 } }, { ...step, wait: 1800 }],
  flapping: { changes: 6, within: 3600 },
}

const CHECK = {
  ...DEFAULT_SETTINGS,
  timeoutSeconds: 60,
  graceSeconds: 60,
  ...BEGIN,
}

const INTEGRATIONS: FactIntegration[] = ['chat', 'mail', 'phone'].map((uuid, id) => ({
  id,
  uuid,
  isOwn: true,
  isDisabled: false,
  ignores: { up: false, down: false },
  keepsRecord: false,
  isOverReserve: false,
  isReader: true,
}))

/**
 * Measures the pure rules (docs/spec/alerting.md#alerting-bounds): one decision, and a simulation of a thousand pings
 * with outages.
 */
export function benchDecisions({ rounds }: { rounds: number }): Row[] {
  const decisions: number[] = []
  const simulations: number[] = []
  // The first round is for compilation.
  for (let round = 0; round <= rounds; round++) {
    const decided = timed(() => evaluateMany(EVALUATIONS))
    const simulated = timed(simulateOnce)
    if (round === 0) continue
    decisions.push((decided * 1000) / EVALUATIONS)
    simulations.push(simulated)
  }
  return [
    { name: 'one decision', took: `${median(decisions).toFixed(1)} us`, limit: '20 us' },
    { name: `simulation of ${PINGS} pings`, took: `${median(simulations).toFixed(1)} ms`, limit: '200 ms' },
  ]
}

/** @returns milliseconds of processor time, because wall time depends on other load */
function timed(work: () => void): number {
  const from = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(from)
  return (user + system) / 1000
}

function evaluateMany(count: number): void {
  const recentResults = Array.from({ length: 64 }, (_, n) => ({ at: START - (64 - n) * MINUTE, ok: n < 60 }))
  const facts: Facts = {
    check: { ...CHECK, id: 1, projectId: 1, status: 'down' },
    flip: { id: 1, at: START, to: 'down', reason: 'timeout' },
    recentFlips: [START],
    policy: { id: 1, version: 1, plan: PLAN },
    severity: 'critical',
    recentResults,
    integrations: INTEGRATIONS,
    notifications: [],
    suppressions: [{ reason: 'MAINTENANCE', since: START - MINUTE, until: START - 1 }],
    people: null,
    isInCycle: false,
    groupDelayEndsAt: null,
    newId: '00000000-0000-4000-8000-000000000001',
    previous: null,
  }
  for (let n = 0; n < count; n += OUTAGE) {
    let { incident } = decide(null, facts, START)
    for (let look = 1; look < OUTAGE; look++) {
      incident = decide(incident, { ...facts, flip: null }, incident?.nextAt ?? START + look * MINUTE).incident
    }
  }
}

function simulateOnce(): void {
  const played = Array.from({ length: PINGS }, (_, n) => ({
    // One failure in ten, and ten minutes without pings in a hundred.
    kind: n % 10 === 9 ? ('fail' as const) : ('success' as const),
    at: START + (n + Math.floor(n / 100) * 10) * MINUTE,
    rid: null,
    source: '',
    listener: 'http' as const,
  }))
  const simulation = new Simulation({
    check: { ...CHECK, uuid: '00000000-0000-4000-8000-0000000000aa', tags: [] },
    played,
    ruleState: null,
    gaps: [],
    refusals: [],
    shard: 1n,
    policy: {
      id: 1,
      version: 1,
      plan: { ...PLAN, when: { ...PLAN.when, failures: 1, of: null, down_for: 0 }, flapping: null },
    },
    severity: 'critical',
    integrations: INTEGRATIONS.map((integration) => ({ ...integration, isReader: true })),
    people: null,
    windows: [],
    parents: null,
    otherOutages: [],
    notifiesUnknown: true,
    from: START,
    until: START + 2 * PINGS * MINUTE,
  })
  while (simulation.step());
  if (simulation.result().messages.length < PINGS / 10) throw new Error('the simulation notified of too few pings')
}
