import test from 'ava'
import type { Suppression } from '#shared/monitoring/alerting/incident.ts'
import { timesOf } from '#shared/monitoring/maintenance/window.ts'
import { microsOfSeconds } from '#shared/time.ts'
import { Scenario, START } from '../alert-scenario.ts'
import { chance, forAll, INTEGRATIONS, randomPlan } from '../random-plans.ts'

const HOUR = microsOfSeconds(3600)

type Change = readonly [zone: string, day: string]

/** Days of clock changes in both directions. */
const CHANGES: readonly [Change, ...Change[]] = [
  ['Europe/Riga', '2026-10-25'],
  ['Europe/Riga', '2027-03-28'],
  ['America/New_York', '2026-11-01'],
  ['America/New_York', '2027-03-14'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Australia/Lord_Howe', '2027-04-04'],
]

const clocks = new Map(
  CHANGES.map(([zone]) => [
    zone,
    new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  ]),
)
const clockOf = (zone: string, at: number) => clocks.get(zone)?.format(at / 1000) ?? ''

test('clock changes do not move or shorten random recurring windows', (t) => {
  const failure = forAll((random) => {
    const { below, pick } = chance(random)
    const [zone, day] = pick(...CHANGES)
    const [hour, minute] = [below(24), below(60)]
    const seconds = 60 + below(20 * 3600)
    const around = Date.parse(`${day}T12:00:00Z`) * 1000
    const [from, until] = [around - 60 * HOUR, around + 60 * HOUR]
    const time = { every: `${minute} ${hour} * * *`, for: seconds, tz: zone }
    const times = timesOf({ time }, from, until)
    const wanted = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
    const label = `${wanted} in ${zone} around ${day}`
    if (times.length < 4 || times.length > 7) return `${label}: ${times.length} windows in five days`
    const isChanged = times.filter((it) => clockOf(zone, it.from) !== wanted)
    // A start time that the clock change skips moves once.
    if (isChanged.length > 1) return `${label}: ${isChanged.length} begin at another time`
    if (isChanged.some((it) => Math.abs(it.from - around) > 36 * HOUR)) return `${label}: another time on another day`
    for (const it of times)
      if (it.until - it.from !== microsOfSeconds(seconds)) return `${label}: ${it.until - it.from}`
    return null
  })
  t.is(failure, null)
})

test('without a policy, each flip notifies each accepting integration once in order', (t) => {
  const failure = forAll((random) => {
    const { below } = chance(random)
    const integrations = Array.from({ length: 1 + below(4) }, () => ({
      isOwn: below(4) > 0,
      isDisabled: below(4) === 0,
      ignores: { up: below(3) === 0, down: below(3) === 0 },
      keepsRecord: below(2) === 0,
      isOverReserve: below(2) === 0,
    }))
    const outcomes = ['delivered', 'failed', 'suppressed', 'pending'] as const
    const scenario = new Scenario({
      plan: null,
      channels: integrations,
      outcome: () => outcomes[below(4)] ?? 'pending',
    })
    const expected: string[] = []
    let at = 0
    for (let flips = below(8), n = 0; n < flips; n++) {
      at += 1 + below(5000)
      const to = n % 2 === 0 ? 'down' : 'up'
      scenario.flip(to, at)
      const notified = integrations.map((it, index) => ({ ...it, id: index + 1 }))
      for (const { id, isOwn, isDisabled, ignores } of notified)
        if (isOwn && !isDisabled && !ignores[to]) expected.push(`${id}:${to}`)
      for (let count = below(3); count > 0; count--) scenario.evaluate(null)
    }
    scenario.until(at + 100_000)
    const sent = scenario.messages.map(({ integration, what }) => `${integration}:${what}`)
    return sent.join() === expected.join() ? null : `sent ${sent.join(', ')} instead of ${expected.join(', ')}`
  })
  t.is(failure, null)
})

test('crashes before or after commits cause no duplicates and no missing recovery', (t) => {
  const failure = forAll((random) => {
    const { below, pick } = chance(random)
    const outcomes = ['delivered', 'delivered', 'failed', 'suppressed', 'pending'] as const
    const reason = pick<Suppression['reason'] | null>('MAINTENANCE', 'PARENT_DOWN', 'COVERAGE_GAP', null)
    const since = START + microsOfSeconds(below(3000))
    const suppression = reason && { reason, since, until: since + microsOfSeconds(1 + below(3000)) }
    const scenario = new Scenario({
      plan: { ...randomPlan(random), when: { failures: 1, of: null, down_for: pick(0, 45), successes: 1 + below(2) } },
      channels: Array(INTEGRATIONS).fill({}),
      outcome: () => pick(...outcomes),
      suppressions: () => (suppression ? [suppression] : []),
      late: () => pick(0, 0, below(30), below(600)) * microsOfSeconds(1),
      crashes: () => ({ before: pick(0, 0, 1, 2), after: below(3) === 0 }),
    })
    let isDown = false
    for (let round = below(10) + 2, at = 0; round > 0; round--) {
      at = Math.max(at + 1 + below(pick(20, 200, 3000)), Math.ceil((scenario.now - START) / microsOfSeconds(1)))
      scenario.until(at)
      at = Math.max(at, Math.ceil((scenario.now - START) / microsOfSeconds(1)))
      const what = pick('flip', 'flip', 'ack', 'unack', 'snooze', 'escalate')
      if (what === 'flip') {
        isDown = !isDown
        scenario.flip(isDown ? 'down' : 'up', at)
      } else if (what === 'snooze' && scenario.incident) scenario.snooze(300 + below(3000))
      else if (what === 'escalate' && scenario.incident) scenario.escalate()
      else if (what === 'ack' && scenario.incident && scenario.incident.state !== 'acknowledged') scenario.ack()
      else if (what === 'unack' && scenario.incident?.state === 'acknowledged') scenario.unack()
    }
    return onceEach(scenario)
  })
  t.is(failure, null)
})

/** Returns an error for a duplicate, or for a resolved incident without exactly one recovery per attempted integration. */
function onceEach({ notifications, incidents }: Scenario): string | null {
  const keys = notifications.map((it) => `${it.incidentId} ${it.integrationId} ${it.what} ${it.entry}`)
  const twice = keys.find((key, index) => keys.indexOf(key) !== index)
  if (twice !== undefined) return `sent twice: ${twice}`
  for (const { id, resolvedAt } of incidents) {
    const ofIncident = notifications.filter(({ incidentId }) => incidentId === id)
    for (const integration of new Set(ofIncident.map(({ integrationId }) => integrationId))) {
      const notified = ofIncident.filter(({ integrationId }) => integrationId === integration)
      const isExpected =
        resolvedAt !== null && notified.some(({ status, attempts }) => status === 'down' && attempts > 0)
      const recoveries = notified.filter(({ status }) => status === 'up').length
      if (recoveries !== (isExpected ? 1 : 0)) return `integration ${integration}: ${recoveries} recoveries`
    }
  }
  return null
}
