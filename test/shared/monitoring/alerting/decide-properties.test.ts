import test from 'ava'
import { type Plan, type Step, stepOffsets } from '#shared/monitoring/alerting/policy.ts'
import { Scenario, SECOND, uuidOf } from '../alert-scenario.ts'
import { CHANNELS, chance, forAll, randomPlan } from '../random-plans.ts'

test('1: tellings in random evaluation intervals equal the plan, and none is told twice', (t) => {
  const failure = forAll((random) => {
    const { below } = chance(random)
    const plan = { ...randomPlan(random), flapping: null }
    const end = 1000 + below(5000)
    const late = () => below(60) * SECOND
    const notified = (lateness?: () => number) => {
      const story = new Scenario({ plan, channels: Array(CHANNELS).fill({}), ...(lateness && { late: lateness }) })
      // Long enough after the end that what was due before it has been said.
      story.flip('down', 0).until(end)
      return story
    }
    const exact = notified()
    const loose = notified(late)
    const first = plan.when?.down_for ?? 0
    const expected = planned(plan.steps ?? [], end - first)
    const said = new Set(exact.notifications.map(({ integrationId, what }) => `${integrationId} ${what}`))
    for (const line of expected) if (!said.has(line)) return `${line} was not said; ${exact.said.join(', ')}`
    const late60 = new Set(loose.messages.map(({ channel, step }) => `${channel} ${step}`))
    const missing = exact.messages.filter(
      ({ at, channel, step }) => at < end - 120 * 60 && !late60.has(`${channel} ${step}`),
    )
    if (missing.length > 0) return `late evaluations leave out ${JSON.stringify(missing)}`
    const keys = exact.messages.map(({ at, channel }) => `${at} ${channel}`)
    if (new Set(keys).size !== keys.length) return `told twice at once: ${exact.said.join(', ')}`
    return null
  })
  t.is(failure, null)
})

test('1: the same after a crash at any commit: nothing is told twice for it, and nothing is left out', (t) => {
  const failure = forAll((random) => {
    const { below, pick } = chance(random)
    const plan = { ...randomPlan(random), flapping: null }
    const end = 1000 + below(5000)
    const channels = Array(CHANNELS).fill({})
    const exact = new Scenario({ plan, channels }).flip('down', 0).until(end)
    const crashes = () => ({ before: pick(0, 0, 1, 2, 3), after: below(3) === 0 })
    const crashed = new Scenario({ plan, channels, crashes }).flip('down', 0).until(end)
    // Late by at most nine seconds each: what was due at two moments may be told at one, never the other way round.
    if (crashed.messages.length > exact.messages.length)
      return `told ${crashed.said.join(', ')} instead of ${exact.said.join(', ')}`
    const keys = crashed.messages.map(({ at, channel }) => `${at} ${channel}`)
    if (new Set(keys).size !== keys.length) return `told twice at once: ${crashed.said.join(', ')}`
    const said = new Set(crashed.messages.map(({ channel, what }) => `${channel} ${what}`))
    const first = (plan.when?.down_for ?? 0) + 60
    for (const line of planned(plan.steps ?? [], end - first)) if (!said.has(line)) return `${line} was not said`
    crashed.flip('up', end + 60)
    const recovered = crashed.messages.filter(({ what }) => what === 'recovery').map(({ channel }) => channel)
    const owed = [...new Set(crashed.messages.filter(({ what }) => what !== 'recovery').map(({ channel }) => channel))]
    if (recovered.toSorted().join() !== owed.toSorted().join())
      return `recoveries to ${recovered.join()}, owed to ${owed.join()}`
    return null
  })
  t.is(failure, null)
})

/** Which integration hears the first words of which steps within a time, by the plan alone. */
function planned(steps: readonly Step[], seconds: number): string[] {
  const offsets = stepOffsets({ steps } as Plan)
  return steps.flatMap((step, index) => {
    if ((offsets[index] ?? 0) > seconds * SECOND) return []
    return [1, 2, 3]
      .filter((id) => step.channels === null || step.channels.includes(uuidOf(id)))
      .map((id) => `${id} first`)
  })
}

test('2: after a resolved incident the last message per attempted integration is a recovery, and only for those', (t) => {
  const failure = forAll((random) => {
    const { below, pick } = chance(random)
    const channels = Array.from({ length: CHANNELS }, () => ({ isOwn: below(4) > 0 }))
    const outcomes = ['delivered', 'delivered', 'failed', 'suppressed', 'pending'] as const
    const story = new Scenario({
      plan: randomPlan(random),
      severity: pick('critical', 'critical', 'info'),
      channels,
      outcome: () => pick(...outcomes),
      late: () => pick(0, 0, below(30), below(600)) * SECOND,
    })
    let at = 0
    let isDown = false
    for (let turn = below(12) + 2; turn > 0; turn--) {
      at += 1 + below(pick(20, 200, 3000))
      story.until(at)
      at = Math.max(at, Math.ceil((story.now - START_SECONDS) / SECOND))
      const what = pick('flip', 'flip', 'flip', 'ack', 'unack', 'change', 'pause')
      if (what === 'flip') {
        isDown = !isDown
        story.flip(isDown ? 'down' : 'up', at)
      } else if (what === 'ack' && story.incident && story.incident.state !== 'acknowledged') story.ack()
      else if (what === 'unack' && story.incident?.state === 'acknowledged') story.unack()
      else if (what === 'change' && story.policy) {
        const plan = { ...story.policy.plan, ...randomPlan(random) }
        story.policy = { ...story.policy, version: story.policy.version + 1, plan }
      }
    }
    if (isDown) story.flip('up', at + 1)
    story.until(at + 100_000)
    return checkRecoveries(story)
  })
  t.is(failure, null)
})

const START_SECONDS = Date.UTC(2026, 10, 22, 10) * 1000

function checkRecoveries(story: Scenario): string | null {
  for (const incident of story.incidents) {
    if (incident.state !== 'resolved') return `an incident stays ${incident.state}, held by ${incident.suppression}`
    const notifications = story.notifications.filter(({ incidentId }) => incidentId === incident.id)
    for (const channel of new Set(notifications.map(({ integrationId }) => integrationId))) {
      const own = notifications.filter(({ integrationId }) => integrationId === channel)
      const isOwed = own.some(({ status, attempts }) => status === 'down' && attempts > 0)
      const recoveries = own.filter(({ status }) => status === 'up').length
      if (recoveries !== (isOwed ? 1 : 0)) return `integration ${channel}: owed ${isOwed}, told ${recoveries} times`
      if (isOwed && own.at(-1)?.status !== 'up') return `integration ${channel}: the last message is no recovery`
      const isLeft = own.some(
        ({ state, attempts, status }) => status === 'down' && state === 'pending' && attempts === 0,
      )
      if (isLeft) return `integration ${channel}: a message that nobody needs is still to be sent`
    }
  }
  return null
}

test('an acknowledged incident is told nobody, whatever passes', (t) => {
  const failure = forAll((random) => {
    const { below } = chance(random)
    const story = new Scenario({ plan: { ...randomPlan(random), flapping: null }, channels: Array(CHANNELS).fill({}) })
    story.flip('down', 0).until(below(3000)).ack()
    const before = story.messages.length
    story.until(20_000)
    return story.messages.length === before ? null : `told ${story.said.slice(before).join(', ')}`
  })
  t.is(failure, null)
})
