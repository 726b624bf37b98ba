import test from 'ava'
import { Scenario, type ScenarioOptions, SECOND, START } from '../alert-scenario.ts'
import {
  address,
  factPerson,
  onCall,
  peopleFacts,
  person,
  randomPeople,
  randomPlan,
  stepOf,
} from '../people-scenario.ts'
import { chance, forAll } from '../random-plans.ts'

const anna = factPerson(1, 'anna', [
  [0, 'ntfy'],
  [300, 'call'],
])
const ben = factPerson(2, 'ben', [
  [0, 'email'],
  [600, 'sms'],
])
const dora = factPerson(4, 'dora')
const people = [anna, ben, factPerson(3, 'carl', []), dora]
const steps = [stepOf(0, { people: [person('anna')] }), stepOf(900, { people: [person('dora')] })]

const down = (more: ScenarioOptions = {}) =>
  new Scenario({ plan: { steps }, people: peopleFacts(people), ...more }).flip('down', 0)
const sent = ({ personal }: Scenario) => personal.map(({ at, method, reason }) => `${at} ${method} ${reason ?? '-'}`)

test('an assignment notifies the person, and the plan waits 900 s for an acknowledgement', (t) => {
  const scenario = down().until(100).assign(address('ben')).until(5000)
  t.deepEqual(sent(scenario), [
    '0 anna-ntfy FIRST',
    '100 ben-email REASSIGNED',
    '700 ben-sms REASSIGNED',
    '1800 dora-email STEP',
  ])
})

test('the former acknowledgement ends, and the plan continues where it was', (t) => {
  const scenario = down().until(100).ack().until(1000).assign(address('ben'))
  t.like(scenario.incident, { state: 'alerting', ack: null })
  t.deepEqual(sent(scenario.until(5000)).slice(1), [
    '1000 ben-email REASSIGNED',
    '1600 ben-sms REASSIGNED',
    '2700 dora-email STEP',
  ])
})

test('an acknowledgement ends the wait and the sequence', (t) => {
  const ack = { kind: 'ack', by: address('ben'), via: 'page', seconds: null } as const
  const scenario = down().until(100).assign(address('ben')).until(200).act(ack).until(5000)
  t.deepEqual(sent(scenario).slice(1), ['100 ben-email REASSIGNED'])
  t.deepEqual(sent(scenario.unack().until(9000)).slice(2), ['5800 dora-email STEP'])
})

test('an escalation ends the wait and leaves the sequence', (t) => {
  const scenario = down().until(100).assign(address('ben')).until(200).escalate().until(5000)
  t.deepEqual(sent(scenario).slice(2), ['200 dora-email ESCALATED', '700 ben-sms REASSIGNED'])
})

test('a second assignment replaces the first, and the plan waits 900 s from then', (t) => {
  const scenario = down().until(100).assign(address('ben')).until(500).assign(address('dora')).until(5000)
  t.deepEqual(sent(scenario).slice(1), [
    '100 ben-email REASSIGNED',
    '500 dora-email REASSIGNED',
    '2200 dora-email STEP',
  ])
})

test('the plan does not wait for a person who is not reached', (t) => {
  const failing = down({ personalOutcome: (method) => (method.startsWith('ben') ? 'failed' : 'delivered') })
  failing.until(100).assign(address('ben')).until(5000)
  t.deepEqual(sent(failing).slice(2), ['700 ben-sms REASSIGNED', '1501 dora-email STEP'])
  const unreachable = down().until(100).assign(address('carl')).until(5000)
  t.deepEqual(sent(unreachable).slice(1), ['900 dora-email STEP'])
  t.true(unreachable.decisions.some(({ people: list = [] }) => list.some(({ reason }) => reason === 'UNREACHABLE')))
})

test('a suppression delays the notification of an assignment', (t) => {
  const window = { reason: 'MAINTENANCE', since: START + 50 * SECOND, until: START + 1000 * SECOND } as const
  const scenario = down({ suppressions: () => [window] })
    .until(100)
    .assign(address('ben'))
    .until(9000)
  t.deepEqual(sent(scenario).slice(1), ['1000 ben-email REASSIGNED', '1600 ben-sms REASSIGNED', '2750 dora-email STEP'])
})

test('a shift change and a changed policy wait too', (t) => {
  const shifts = [
    [
      [0, 'anna'],
      [200, 'dora'],
    ] as const,
  ]
  const scenario = down({ plan: { steps: [stepOf(0, { people: [onCall(1)] })] }, people: peopleFacts(people, shifts) })
  scenario.until(100).assign(address('ben')).until(300)
  if (scenario.policy) scenario.policy = { ...scenario.policy, version: 2 }
  t.deepEqual(sent(scenario.until(5000)).slice(1), [
    '100 ben-email REASSIGNED',
    '700 ben-sms REASSIGNED',
    '1000 dora-email SHIFT_CHANGED',
  ])
})

test('an assignment begins the plan of an incident whose conditions are not met', (t) => {
  const when = { failures: 1, of: null, down_for: 3600, successes: 1 }
  const scenario = down({ plan: { steps, when } }).until(100).assign(address('ben'))
  t.is(scenario.incident?.state, 'alerting')
  t.deepEqual(sent(scenario.until(5000)), [
    '100 ben-email REASSIGNED',
    '700 ben-sms REASSIGNED',
    '1000 anna-ntfy FIRST',
    '1300 anna-call FIRST',
    '1900 dora-email STEP',
  ])
})

test('a plan of integrations waits too, and the recovery goes to all that were notified', (t) => {
  const own = [stepOf(0, { own: true }), stepOf(300, { own: true })]
  const scenario = down({ plan: { steps: own } })
    .until(100)
    .assign(address('ben'))
    .until(1199)
  t.deepEqual(scenario.sent, ['0:1:first'])
  t.is(scenario.incident?.exhaustedAt, null)
  t.deepEqual(scenario.until(5000).flip('up', 5000).sent.slice(1), ['1200:1:first', '5000:1:recovery'])
  t.deepEqual(sent(scenario).slice(2), ['5000 ben-email -'])
})

test('under a random plan, nothing else is sent for 900 s, and no key of the database is used twice', (t) => {
  const failure = forAll((random) => {
    const { below, pick } = chance(random)
    const scenario = new Scenario({
      plan: randomPlan(random),
      severity: pick('critical', 'warning'),
      channels: [{}],
      people: peopleFacts(
        [...randomPeople(random), factPerson(9, 'fred')],
        [
          [[0, 'anna']],
          [
            [0, 'ben'],
            [below(4000), null],
          ],
        ],
      ),
      crashes: () => ({ before: pick(0, 0, 1), after: below(3) === 0 }),
    })
    let at = below(3000)
    scenario.flip('down', 0).until(at)
    for (let turn = 1 + below(3); turn > 0; turn--) {
      at = (scenario.now - START) / SECOND
      if (below(2) === 0) scenario.ack()
      const before = [scenario.messages.length, scenario.personal.length] as const
      scenario.assign(address('fred'))
      const begun = (scenario.now - START) / SECOND
      scenario.until(begun + 890)
      const [, personal] = before
      const others = scenario.personal
        .slice(personal)
        .filter(({ reason, what }) => what !== 'ack' && reason !== 'REASSIGNED')
      if (others.length > 0) return `sent ${JSON.stringify(others)} from ${at}`
      const integrations = scenario.messages.slice(before[0]).filter(({ what }) => what !== 'ack')
      if (integrations.length > 0) return `sent ${JSON.stringify(integrations)} from ${at}`
      if (!scenario.personal.slice(personal).some(({ method }) => method === 'fred-email'))
        return `not notified at ${at}`
      scenario.until(begun + below(4000))
    }
    scenario.flip('up', (scenario.now - START) / SECOND + 10_000)
    const keys = scenario.personalRows.map(({ methodId, what, entry }) => `${methodId} ${what} ${entry}`)
    const twice = keys.find((key, index) => keys.indexOf(key) < index)
    return twice === undefined ? null : `the key ${twice} is used twice`
  })
  t.is(failure, null)
})
