import test from 'ava'
import type { FactPerson } from '#shared/monitoring/alerting/incident.ts'
import { IMPLICIT_PLAN, type Plan, type Severity } from '#shared/monitoring/alerting/policy.ts'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { BEGIN } from '#shared/monitoring/checks/state-machine.ts'
import { nextChange, onCallAt, shifts } from '#shared/monitoring/on-call/on-call.ts'
import type { OnCallFacts } from '#shared/monitoring/on-call/schedule.ts'
import type { SimulatedPeople } from '#shared/monitoring/simulation/simulated-people.ts'
import { Simulation } from '#shared/monitoring/simulation/simulation.ts'
import type { Played } from '#shared/monitoring/simulation/virtual-check.ts'
import type { Micros } from '#shared/time.ts'
import { effort } from '../../../support/effort.ts'
import { randomFacts } from '../../../support/on-call.ts'
import { randomOf } from '../../../support/random.ts'
import { Scenario, SECOND, START, uuidOf } from '../alert-scenario.ts'
import { address, factPerson, randomPeople, randomPlan as randomPlanOfPeople, scheduleId } from '../people-scenario.ts'
import { chance, forAll, INTEGRATIONS, randomPlan } from '../random-plans.ts'

const LENGTH = 20_000

test('property 5: the simulator sends the same messages as decide in random scenarios', (t) => {
  const failure = forAll((random) => {
    const { below } = chance(random)
    const plan = randomPlan(random)
    const integrations = Array.from({ length: INTEGRATIONS }, (_, index) => ({ isOwn: index !== 1 }))
    const scenario = new Scenario({ plan, channels: integrations, severity: 'warning' })
    // The fraction avoids the instants of the plan, because simultaneous events have no order.
    const flips: number[] = []
    for (let at = 1 + below(600), n = 0; at < LENGTH && n < 12; at += 1.25 + below(3000), n++) flips.push(at)
    return compare(scenario, { plan, flips, until: LENGTH, integrations, severity: 'warning', people: null })
  })
  t.is(failure, null)
})

/** Clocks in Berlin change on 28 March 2027. */
const WEEK_FROM = (Date.UTC(2027, 2, 25) * 1000 - START) / SECOND
const WEEK = 7 * 86_400
const SCENARIOS = effort(20, 1_000)

test('simulates persons as decide does, across swaps and a clock change', (t) => {
  let messages = 0
  const failure = forAll((random, number) => {
    const { below, pick } = chance(random)
    const plan = randomPlanOfPeople(random)
    const severity = pick('critical', 'warning', 'info')
    const facts = [0, 1].map((index) => withSwap(randomFacts(randomOf(number, index), 'Europe/Berlin', '2027-03-15')))
    const persons = [...randomPeople(random), factPerson(9, 'unreachable', [])]
    const until = WEEK_FROM + WEEK
    const scenario = new Scenario({ plan, severity, people: onCallFactsOf(facts, persons) })
    const flips: number[] = []
    for (
      let at = WEEK_FROM + 0.1 + below(40_000);
      at < until;
      at += 1.25 + below(flips.length % 2 === 0 ? 9_000 : 60_000)
    )
      flips.push(at)
    const schedules = facts.map((own, index) => ({
      id: scheduleId(index + 1),
      name: `Schedule ${index + 1}`,
      shifts: shifts(own, START, START + until * SECOND + 1).map((shift) => ({
        ...shift,
        person: address(shift.person),
      })),
    }))
    const people = { people: persons, schedules }
    const different = compare(scenario, { plan, flips, until, integrations: [{ isOwn: true }], severity, people })
    messages += scenario.personal.length
    return different
  }, SCENARIOS)
  t.is(failure, null)
  t.true(messages > SCENARIOS, `${messages} messages to persons`)
})

/** Adds a swap in both directions, on both sides of the clock change. */
function withSwap({ overrides, members, ...facts }: OnCallFacts): OnCallFacts {
  const at = (day: number) => Date.UTC(2027, 2, day) * 1000
  const number = overrides.length
  const swap = [
    { number: number + 1, person: 'unreachable', replaces: 'anna', start: at(26), end: at(29) },
    { number: number + 2, person: 'ben', replaces: 'carl', start: at(30), end: at(31) },
  ]
  return { ...facts, overrides: [...overrides, ...swap], members: new Set([...members, 'unreachable']) }
}

/** Computes each shift once. */
function onCallFactsOf(facts: readonly OnCallFacts[], people: readonly FactPerson[]) {
  const schedules = facts.map((own, index) => {
    let current: { until: Micros | null; person: string | null } = { until: 0, person: null }
    return (now: Micros) => {
      const { until } = current
      if (until !== null && until <= now) {
        const { person } = onCallAt(own, now)
        current = { until: nextChange(own, now), person: person === null ? null : address(person) }
      }
      return { id: scheduleId(index + 1), name: `Schedule ${index + 1}`, person: current.person, until: current.until }
    }
  })
  return (now: Micros) => ({ people, schedules: schedules.map((at) => at(now)) })
}

interface Compared {
  plan: Partial<Plan>
  /** seconds since the start; the check goes down first */
  flips: readonly number[]
  until: number
  integrations: readonly { isOwn: boolean }[]
  severity: Severity
  people: SimulatedPeople | null
}

/** Returns the first difference between the messages of a scenario and those of the simulator. */
function compare(scenario: Scenario, { plan, flips, until, integrations, severity, people }: Compared): string | null {
  const ping = (kind: 'success' | 'fail', seconds: number): Played => ({
    kind,
    at: START + seconds * SECOND,
    rid: null,
    source: '',
    listener: 'http',
  })
  const played = [ping('success', -864_000)]
  for (const [n, at] of flips.entries()) {
    const to = n % 2 === 0 ? 'down' : 'up'
    scenario.flip(to, at)
    played.push(ping(to === 'up' ? 'success' : 'fail', at))
  }
  scenario.until(until)

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
    severity,
    integrations: integrations.map((one, index) => ({
      ...known,
      ...one,
      id: index + 1,
      uuid: uuidOf(index + 1),
      isReader: true,
    })),
    people,
    windows: [],
    parents: null,
    otherOutages: [],
    notifiesUnknown: true,
    from: START,
    until: START + until * SECOND,
  })
  while (simulation.step());
  const { messages } = simulation.result()
  const secondsOf = (at: Micros) => (at - START) / SECOND
  const simulated = messages.flatMap(({ at, integration, what }) =>
    integration === null ? [] : [`${secondsOf(at)} ${integration} ${what}`],
  )
  const notified = scenario.messages.map(({ at, integration, what }) => `${at} ${uuidOf(integration)} ${what}`)
  const nameOf = new Map(people?.people.map((person) => [person.userId, person.address]))
  const simulatedPersons = messages.flatMap(({ at, recipient, what, detail }) =>
    recipient ? [`${secondsOf(at)} ${recipient.person} ${recipient.kind} ${what} ${detail?.reason ?? null}`] : [],
  )
  const notifiedPersons = scenario.personal.map(
    ({ at, user, method, what, reason }) =>
      `${at} ${nameOf.get(user)} ${method.slice(method.lastIndexOf('-') + 1)} ${what} ${reason}`,
  )
  return difference(notified, simulated) ?? difference(notifiedPersons, simulatedPersons)
}

function difference(sent: readonly string[], simulated: readonly string[]): string | null {
  const first = sent.findIndex((message, index) => message !== simulated[index])
  if (first === -1 && sent.length === simulated.length) return null
  return `sent ${sent.length}, simulated ${simulated.length}; from ${first}: ${sent[first]}, ${simulated[first]}`
}
