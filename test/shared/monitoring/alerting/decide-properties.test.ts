import test from 'ava'
import { type Plan, type Step, stepOffsets } from '#shared/monitoring/alerting/policy.ts'
import { Scenario, SECOND, uuidOf } from '../alert-scenario.ts'
import { chance, forAll, INTEGRATIONS, randomPlan } from '../random-plans.ts'

test('1: late evaluations send every notification of a random plan exactly once', (t) => {
  const failure = forAll((random) => {
    const { below } = chance(random)
    const plan = { ...randomPlan(random), flapping: null }
    const end = 1000 + below(5000)
    const late = () => below(60) * SECOND
    const notified = (lateness?: () => number) => {
      const scenario = new Scenario({
        plan,
        channels: Array(INTEGRATIONS).fill({}),
        ...(lateness && { late: lateness }),
      })
      // The end is late enough for all notifications that are due before it.
      scenario.flip('down', 0).until(end)
      return scenario
    }
    const exact = notified()
    const loose = notified(late)
    const first = plan.when?.down_for ?? 0
    const expected = planned(plan.steps ?? [], end - first)
    const sent = new Set(exact.notifications.map(({ integrationId, what }) => `${integrationId} ${what}`))
    for (const line of expected) if (!sent.has(line)) return `${line} was not sent; ${exact.sent.join(', ')}`
    const late60 = new Set(loose.messages.map(({ integration, step }) => `${integration} ${step}`))
    const missing = exact.messages.filter(
      ({ at, integration, step }) => at < end - 120 * 60 && !late60.has(`${integration} ${step}`),
    )
    if (missing.length > 0) return `late evaluations leave out ${JSON.stringify(missing)}`
    const keys = exact.messages.map(({ at, integration }) => `${at} ${integration}`)
    if (new Set(keys).size !== keys.length) return `sent twice at once: ${exact.sent.join(', ')}`
    return null
  })
  t.is(failure, null)
})

test('1: crashes at commits neither repeat nor lose notifications of a random plan', (t) => {
  const failure = forAll((random) => {
    const { below, pick } = chance(random)
    const plan = { ...randomPlan(random), flapping: null }
    const end = 1000 + below(5000)
    const integrations = Array(INTEGRATIONS).fill({})
    const exact = new Scenario({ plan, channels: integrations }).flip('down', 0).until(end)
    const crashes = () => ({ before: pick(0, 0, 1, 2, 3), after: below(3) === 0 })
    const crashed = new Scenario({ plan, channels: integrations, crashes }).flip('down', 0).until(end)
    // A delay of at most nine seconds may merge two notifications, but never split one.
    if (crashed.messages.length > exact.messages.length)
      return `sent ${crashed.sent.join(', ')} instead of ${exact.sent.join(', ')}`
    const keys = crashed.messages.map(({ at, integration }) => `${at} ${integration}`)
    if (new Set(keys).size !== keys.length) return `sent twice at once: ${crashed.sent.join(', ')}`
    const sent = new Set(crashed.messages.map(({ integration, what }) => `${integration} ${what}`))
    const first = (plan.when?.down_for ?? 0) + 60
    for (const line of planned(plan.steps ?? [], end - first)) if (!sent.has(line)) return `${line} was not sent`
    crashed.flip('up', end + 60)
    const recovered = crashed.messages.filter(({ what }) => what === 'recovery').map(({ integration }) => integration)
    const expected = [
      ...new Set(crashed.messages.filter(({ what }) => what !== 'recovery').map(({ integration }) => integration)),
    ]
    if (recovered.toSorted().join() !== expected.toSorted().join())
      return `recoveries to ${recovered.join()}, expected for ${expected.join()}`
    return null
  })
  t.is(failure, null)
})

/** Returns the first notifications of all steps within a time, from the plan alone. */
function planned(steps: readonly Step[], seconds: number): string[] {
  const offsets = stepOffsets({ steps } as Plan)
  return steps.flatMap((step, index) => {
    if ((offsets[index] ?? 0) > seconds * SECOND) return []
    return [1, 2, 3]
      .filter((id) => step.channels === null || step.channels.includes(uuidOf(id)))
      .map((id) => `${id} first`)
  })
}

test('2: every integration with an attempted down notification gets exactly one recovery', (t) => {
  const failure = forAll((random) => {
    const { below, pick } = chance(random)
    const integrations = Array.from({ length: INTEGRATIONS }, () => ({ isOwn: below(4) > 0 }))
    const outcomes = ['delivered', 'delivered', 'failed', 'suppressed', 'pending'] as const
    const scenario = new Scenario({
      plan: randomPlan(random),
      severity: pick('critical', 'critical', 'info'),
      channels: integrations,
      outcome: () => pick(...outcomes),
      late: () => pick(0, 0, below(30), below(600)) * SECOND,
    })
    let at = 0
    let isDown = false
    for (let round = below(12) + 2; round > 0; round--) {
      at += 1 + below(pick(20, 200, 3000))
      scenario.until(at)
      at = Math.max(at, Math.ceil((scenario.now - START_SECONDS) / SECOND))
      const what = pick('flip', 'flip', 'flip', 'ack', 'unack', 'change', 'pause')
      if (what === 'flip') {
        isDown = !isDown
        scenario.flip(isDown ? 'down' : 'up', at)
      } else if (what === 'ack' && scenario.incident && scenario.incident.state !== 'acknowledged') scenario.ack()
      else if (what === 'unack' && scenario.incident?.state === 'acknowledged') scenario.unack()
      else if (what === 'change' && scenario.policy) {
        const plan = { ...scenario.policy.plan, ...randomPlan(random) }
        scenario.policy = { ...scenario.policy, version: scenario.policy.version + 1, plan }
      }
    }
    if (isDown) scenario.flip('up', at + 1)
    scenario.until(at + 100_000)
    return checkRecoveries(scenario)
  })
  t.is(failure, null)
})

const START_SECONDS = Date.UTC(2026, 10, 22, 10) * 1000

function checkRecoveries(scenario: Scenario): string | null {
  for (const incident of scenario.incidents) {
    if (incident.state !== 'resolved')
      return `an incident stays ${incident.state}, suppressed by ${incident.suppression}`
    const notifications = scenario.notifications.filter(({ incidentId }) => incidentId === incident.id)
    for (const integration of new Set(notifications.map(({ integrationId }) => integrationId))) {
      const ofIntegration = notifications.filter(({ integrationId }) => integrationId === integration)
      const isExpected = ofIntegration.some(({ status, attempts }) => status === 'down' && attempts > 0)
      const recoveries = ofIntegration.filter(({ status }) => status === 'up').length
      if (recoveries !== (isExpected ? 1 : 0)) return `integration ${integration}: ${recoveries} recoveries`
      if (isExpected && ofIntegration.at(-1)?.status !== 'up')
        return `integration ${integration}: the last message is no recovery`
      const isLeft = ofIntegration.some(
        ({ state, attempts, status }) => status === 'down' && state === 'pending' && attempts === 0,
      )
      if (isLeft) return `integration ${integration}: an obsolete message is still pending`
    }
  }
  return null
}

test('an acknowledged incident sends no further notifications under random plans', (t) => {
  const failure = forAll((random) => {
    const { below } = chance(random)
    const scenario = new Scenario({
      plan: { ...randomPlan(random), flapping: null },
      channels: Array(INTEGRATIONS).fill({}),
    })
    scenario.flip('down', 0).until(below(3000)).ack()
    const before = scenario.messages.length
    scenario.until(20_000)
    return scenario.messages.length === before ? null : `sent ${scenario.sent.slice(before).join(', ')}`
  })
  t.is(failure, null)
})
