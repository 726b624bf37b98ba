import test from 'ava'
import type { Suppression } from '#shared/monitoring/alerting/incident.ts'
import { timesOf } from '#shared/monitoring/maintenance/window.ts'
import { microsOfSeconds } from '#shared/time.ts'
import { Scenario, START } from '../alert-scenario.ts'
import { CHANNELS, chance, forAll, randomPlan } from '../random-plans.ts'

const HOUR = microsOfSeconds(3600)

type Change = readonly [zone: string, day: string]

/** Zones and days on which their clocks change, in both directions. */
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

test('5: random windows over both changes of clocks begin by the wall clock, and last as long as ever', (t) => {
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
    const said = `${wanted} in ${zone} around ${day}`
    if (times.length < 4 || times.length > 7) return `${said}: ${times.length} windows in five days`
    const isChanged = times.filter((it) => clockOf(zone, it.from) !== wanted)
    // A time that the change of clocks leaves out is begun at another one, once.
    if (isChanged.length > 1) return `${said}: ${isChanged.length} begin at another time`
    if (isChanged.some((it) => Math.abs(it.from - around) > 36 * HOUR)) return `${said}: another time on another day`
    for (const it of times) if (it.until - it.from !== microsOfSeconds(seconds)) return `${said}: ${it.until - it.from}`
    return null
  })
  t.is(failure, null)
})

test('6: a plain check tells each change to each of its integrations that takes it, once, in their order, and nothing else', (t) => {
  const failure = forAll((random) => {
    const { below } = chance(random)
    const channels = Array.from({ length: 1 + below(4) }, () => ({
      isOwn: below(4) > 0,
      isDisabled: below(4) === 0,
      ignores: { up: below(3) === 0, down: below(3) === 0 },
      keepsRecord: below(2) === 0,
      isOverReserve: below(2) === 0,
    }))
    const outcomes = ['delivered', 'failed', 'suppressed', 'pending'] as const
    const story = new Scenario({ plan: null, channels, outcome: () => outcomes[below(4)] ?? 'pending' })
    const expected: string[] = []
    let at = 0
    for (let flips = below(8), n = 0; n < flips; n++) {
      at += 1 + below(5000)
      const to = n % 2 === 0 ? 'down' : 'up'
      story.flip(to, at)
      const notified = channels.map((it, index) => ({ ...it, id: index + 1 }))
      for (const { id, isOwn, isDisabled, ignores } of notified)
        if (isOwn && !isDisabled && !ignores[to]) expected.push(`${id}:${to}`)
      for (let looks = below(3); looks > 0; looks--) story.look(null)
    }
    story.until(at + 100_000)
    const said = story.messages.map(({ channel, what }) => `${channel}:${what}`)
    return said.join() === expected.join() ? null : `told ${said.join(', ')} instead of ${expected.join(', ')}`
  })
  t.is(failure, null)
})

test('7: whoever decides may die before or after each commit: nothing is told twice, and no recovery is missing', (t) => {
  const failure = forAll((random) => {
    const { below, pick } = chance(random)
    const outcomes = ['delivered', 'delivered', 'failed', 'suppressed', 'pending'] as const
    const reason = pick<Suppression['reason'] | null>('MAINTENANCE', 'PARENT_DOWN', 'COVERAGE_GAP', null)
    const since = START + microsOfSeconds(below(3000))
    const gate = reason && { reason, since, until: since + microsOfSeconds(1 + below(3000)) }
    const story = new Scenario({
      plan: { ...randomPlan(random), when: { failures: 1, of: null, down_for: pick(0, 45), successes: 1 + below(2) } },
      channels: Array(CHANNELS).fill({}),
      outcome: () => pick(...outcomes),
      gates: () => (gate ? [gate] : []),
      late: () => pick(0, 0, below(30), below(600)) * microsOfSeconds(1),
      crashes: () => ({ before: pick(0, 0, 1, 2), after: below(3) === 0 }),
    })
    let isDown = false
    for (let turn = below(10) + 2, at = 0; turn > 0; turn--) {
      at = Math.max(at + 1 + below(pick(20, 200, 3000)), Math.ceil((story.now - START) / microsOfSeconds(1)))
      story.until(at)
      at = Math.max(at, Math.ceil((story.now - START) / microsOfSeconds(1)))
      const what = pick('flip', 'flip', 'ack', 'unack')
      if (what === 'flip') {
        isDown = !isDown
        story.flip(isDown ? 'down' : 'up', at)
      } else if (what === 'ack' && story.incident && story.incident.state !== 'acknowledged') story.ack()
      else if (what === 'unack' && story.incident?.state === 'acknowledged') story.unack()
    }
    return onceEach(story)
  })
  t.is(failure, null)
})

/** No message has its like, and of what is over each integration that a message was tried to has one recovery. */
function onceEach({ notifications, incidents }: Scenario): string | null {
  const keys = notifications.map((it) => `${it.incidentId} ${it.integrationId} ${it.what} ${it.entry}`)
  const twice = keys.find((key, index) => keys.indexOf(key) !== index)
  if (twice !== undefined) return `told twice: ${twice}`
  for (const { id, resolvedAt } of incidents) {
    const own = notifications.filter(({ incidentId }) => incidentId === id)
    for (const channel of new Set(own.map(({ integrationId }) => integrationId))) {
      const notified = own.filter(({ integrationId }) => integrationId === channel)
      const isOwed = resolvedAt !== null && notified.some(({ status, attempts }) => status === 'down' && attempts > 0)
      const recoveries = notified.filter(({ status }) => status === 'up').length
      if (recoveries !== (isOwed ? 1 : 0)) return `integration ${channel}: owed ${isOwed}, told ${recoveries} times`
    }
  }
  return null
}
