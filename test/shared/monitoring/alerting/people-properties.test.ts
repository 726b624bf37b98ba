import test from 'ava'
import { isAtLeast, usesPeople } from '#shared/monitoring/alerting/policy.ts'
import { fractionsOf } from '../../../support/random.ts'
import { Scenario, SECOND } from '../alert-scenario.ts'
import { NAMES, peopleFacts, person, randomPeople, randomPlan, type Shifts } from '../people-scenario.ts'
import { chance, forAll } from '../random-plans.ts'

function randomShifts(random: () => number): Shifts {
  const { below, pick } = chance(random)
  const later = Array.from({ length: below(4) }, () => [1 + below(6000), pick(null, ...NAMES)] as const)
  return [[0, pick(null, ...NAMES)], ...later.toSorted((a, b) => a[0] - b[0])]
}

function randomScenario(random: () => number, more: ConstructorParameters<typeof Scenario>[0] = {}): Scenario {
  const plan = randomPlan(random)
  const shifts = [randomShifts(random), randomShifts(random)]
  const severity = chance(random).pick('critical', 'warning', 'info')
  return new Scenario({ plan, severity, channels: [{}], people: peopleFacts(randomPeople(random), shifts), ...more })
}

/** Returns a message that was sent twice to one method at one instant. */
function repeated({ personal }: Scenario): string | null {
  const keys = personal.map(({ at, method, what }) => `${at} ${method} ${/recovery|ack/.test(what)}`)
  const rows = personal.map(({ method, what, entry }) => `${method} ${what} ${entry}`)
  const twice = (list: readonly string[]) => list.find((key, index) => list.indexOf(key) < index)
  const found = twice(keys) ?? twice(rows)
  return found === undefined ? null : `sent twice: ${found} in ${rows.join(', ')}`
}

test('1: late evaluations and crashes neither repeat nor lose notifications of persons', (t) => {
  const failure = forAll((random) => {
    const { below, pick } = chance(random)
    const seed = below(2 ** 30)
    const play = (more: ConstructorParameters<typeof Scenario>[0] = {}) =>
      randomScenario(fractionsOf(seed), more).flip('down', 0).until(5000)
    const exact = play()
    const late = play({ late: () => below(60) * SECOND })
    const crashed = play({ crashes: () => ({ before: pick(0, 0, 1, 2), after: below(3) === 0 }) })
    for (const scenario of [exact, late, crashed]) {
      const twice = repeated(scenario)
      if (twice) return twice
    }
    // A delay may skip a short shift, but never a person whom a step names.
    const named = (exact.policy?.plan.steps ?? [])
      .flatMap(({ people }) => people)
      .map((target) => JSON.stringify(target))
    const users = new Set(crashed.personal.map(({ user }) => user))
    for (const { user, at } of exact.personal) {
      const isNamed = named.includes(JSON.stringify(person(NAMES[user - 1] ?? '')))
      if (isNamed && at < 3000 && !users.has(user)) return `crashes leave out person ${user}`
    }
    return null
  })
  t.is(failure, null)
})

test('2: every notified person gets a recovery by each method that accepts it', (t) => {
  const failure = forAll((random) => {
    const { below, pick } = chance(random)
    const states = ['delivered', 'delivered', 'failed', 'suppressed', 'pending'] as const
    const scenario = randomScenario(random, {
      personalOutcome: () => pick(...states),
      outcome: () => pick(...states),
      late: () => pick(0, 0, below(30), below(600)) * SECOND,
    })
    let at = 0
    scenario.flip('down', 0)
    for (let round = below(6); round > 0; round--) {
      at += 1 + below(pick(20, 300, 2000))
      scenario.until(at)
      const act = pick('ack', 'escalate', 'snooze')
      if (scenario.incident?.state === 'acknowledged') scenario.unack()
      else if (act === 'ack') scenario.act({ kind: 'ack', by: 'someone', via: 'api', seconds: null })
      else if (act === 'escalate') scenario.escalate()
      else scenario.snooze(300)
    }
    const end = Math.max(at + 1, Math.ceil(scenario.now / SECOND - Date.UTC(2026, 10, 22, 10) / 1000))
    scenario.flip('up', end).until(end + 100_000)
    const [incident] = scenario.incidents
    if (incident?.state !== 'resolved') return `the incident stays ${incident?.state}`
    const isLeft = scenario.personalRows.some(
      (row) => row.status === 'down' && row.state === 'pending' && row.attempts === 0,
    )
    if (isLeft) return 'an obsolete notification is still pending'
    for (const user of new Set(scenario.personalRows.map(({ userId }) => userId))) {
      const own = scenario.personalRows.filter(({ userId }) => userId === user)
      const attempted = new Set(
        own.filter((row) => row.status === 'down' && row.attempts > 0).map((row) => row.methodId),
      )
      const wanted = [...attempted].filter((method) => /email|ntfy/.test(method ?? ''))
      const name = NAMES[user - 1] ?? ''
      const expected = attempted.size === 0 ? [] : wanted.length > 0 ? wanted : [`${name}-email`]
      const recovered = own.filter(({ what }) => what === 'recovery').map(({ methodId }) => methodId)
      if (recovered.toSorted().join() !== expected.toSorted().join())
        return `recoveries by ${recovered.join()}, expected ${expected.join()}`
    }
    return repeated(scenario)
  })
  t.is(failure, null)
})

test('7: every incident ends notified, suppressed or with a mail to managers', (t) => {
  const failure = forAll((random) => {
    const { pick } = chance(random)
    const isFailing = pick(true, false)
    const scenario = randomScenario(random, {
      personalOutcome: () => (isFailing ? 'failed' : 'delivered'),
      channels: [],
    })
    scenario.flip('down', 0).until(15_000)
    const isReached = scenario.personal.length > 0 && !isFailing
    const { steps = [] } = scenario.policy?.plan ?? {}
    const severity = scenario.incident?.severity ?? 'critical'
    const isBelow = steps.every((step) => !isAtLeast(severity, step.severity))
    const isPersonal = scenario.policy !== null && usesPeople(scenario.policy.plan)
    if (isReached || isBelow || !isPersonal) return null
    if (scenario.lastResorts.length === 1) return null
    return `${scenario.lastResorts.length} mails, ${JSON.stringify(scenario.decisions).slice(0, 1500)}`
  })
  t.is(failure, null)
})

test('an acknowledged incident notifies persons only of the acknowledgement', (t) => {
  const failure = forAll((random) => {
    const { below } = chance(random)
    const scenario = randomScenario(random).flip('down', 0).until(below(3000))
    const before = scenario.personal.length
    scenario.act({ kind: 'ack', by: 'someone', via: 'api', seconds: null }).until(20_000)
    const further = scenario.personal.slice(before)
    const notified = new Set(scenario.personal.slice(0, before).map(({ user }) => user))
    if (further.some(({ what, user }) => what !== 'ack' || !notified.has(user))) return JSON.stringify(further)
    return new Set(further.map(({ user }) => user)).size === further.length ? null : 'notified twice'
  })
  t.is(failure, null)
})
