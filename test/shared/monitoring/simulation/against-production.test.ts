import test from 'ava'
import { IMPLICIT_PLAN } from '#shared/monitoring/alerting/policy.ts'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { BEGIN } from '#shared/monitoring/checks/state-machine.ts'
import { Simulation } from '#shared/monitoring/simulation/simulation.ts'
import type { Played } from '#shared/monitoring/simulation/virtual-check.ts'
import { Scenario, SECOND, START, uuidOf } from '../alert-scenario.ts'
import { chance, forAll, INTEGRATIONS, randomPlan } from '../random-plans.ts'

const LENGTH = 20_000

test('property 5: the simulator sends the same messages as decide in random scenarios', (t) => {
  const failure = forAll((random) => {
    const { below } = chance(random)
    const plan = randomPlan(random)
    const integrations = Array.from({ length: INTEGRATIONS }, (_, index) => ({ isOwn: index !== 1 }))
    const scenario = new Scenario({ plan, channels: integrations, severity: 'warning' })
    const ping = (kind: 'success' | 'fail', seconds: number): Played => ({
      kind,
      at: START + seconds * SECOND,
      rid: null,
      source: '',
      listener: 'http',
    })
    const played = [ping('success', -864_000)]
    // The fraction avoids the instants of the plan, because simultaneous events have no order.
    for (let at = 1 + below(600), n = 0; at < LENGTH && n < 12; at += 1.25 + below(3000), n++) {
      const to = n % 2 === 0 ? 'down' : 'up'
      scenario.flip(to, at)
      played.push(ping(to === 'up' ? 'success' : 'fail', at))
    }
    scenario.until(LENGTH)

    const uuid = uuidOf(9)
    const known = { isDisabled: false, ignores: { up: false, down: false }, keepsRecord: false, isOverReserve: false }
    const simulation = new Simulation({
      // Only fail pings bring the check down.
      check: { ...DEFAULT_SETTINGS, ...BEGIN, timeoutSeconds: 31_536_000, uuid, tags: [] },
      played,
      ruleState: null,
      gaps: [],
      refusals: [],
      shard: 1n,
      policy: { id: 1, version: 1, plan: { ...IMPLICIT_PLAN, ...plan } },
      severity: 'warning',
      integrations: integrations.map((one, index) => ({
        ...known,
        ...one,
        id: index + 1,
        uuid: uuidOf(index + 1),
        isReader: true,
      })),
      windows: [],
      parents: null,
      crowd: [],
      notifiesUnknown: true,
      from: START,
      until: START + LENGTH * SECOND,
    })
    while (simulation.step());
    const simulated = simulation
      .result()
      .messages.map(({ at, integration, what }) => `${(at - START) / SECOND} ${integration} ${what}`)
    const notified = scenario.messages.map(({ at, integration, what }) => `${at} ${uuidOf(integration)} ${what}`)
    const first = notified.findIndex((message, index) => message !== simulated[index])
    if (first === -1 && notified.length === simulated.length) return null
    return `sent ${notified.length}, simulated ${simulated.length}; from ${first}: ${notified[first]}, ${simulated[first]}`
  })
  t.is(failure, null)
})
