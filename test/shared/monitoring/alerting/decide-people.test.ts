import test from 'ava'
import { Scenario, uuidOf } from '../alert-scenario.ts'
import { address, factPerson, onCall, peopleFacts, person, stepOf } from '../people-scenario.ts'

const anna = factPerson(1, 'anna', [
  [0, 'ntfy'],
  [300, 'call'],
])
const ben = factPerson(2, 'ben')
const carl = factPerson(3, 'carl', [])
const people = [anna, ben, carl]

const sent = ({ personal }: Scenario) =>
  personal.map(({ at, method, what, reason }) => `${at} ${method} ${what} ${reason ?? '-'}`)
const noted = ({ decisions }: Scenario) =>
  decisions.flatMap(({ at, people: list = [] }) =>
    list.map((one) => `${at} ${one.person?.split('@')[0] ?? '-'} ${one.reason}`),
  )

test('each person of a step gets their rules and the recovery', (t) => {
  const steps = [stepOf(0, { people: [onCall(1), person('anna')] }), stepOf(900, { people: [person('ben')] })]
  const scenario = new Scenario({ plan: { steps }, people: peopleFacts(people, [[[0, 'anna']]]) })
  scenario.flip('down', 0).flip('up', 1000)
  t.deepEqual(sent(scenario), [
    '0 anna-ntfy first FIRST',
    '300 anna-call first FIRST',
    '900 ben-email first STEP',
    '1000 anna-ntfy recovery -',
    '1000 ben-email recovery -',
  ])
  t.is(scenario.incidents[0]?.state, 'resolved')
})

test('a person whose notification was suppressed learns the name of the window or parent', (t) => {
  for (const reason of ['MAINTENANCE', 'PARENT_DOWN'] as const) {
    const start = Date.UTC(2026, 10, 22, 10) * 1000
    const suppression = { reason, since: start, until: start + 300e6, detail: { name: 'Patch night' } }
    const plan = { steps: [stepOf(0, { people: [person('anna')] })] }
    const scenario = new Scenario({ plan, people: peopleFacts(people), suppressions: () => [suppression] })
    scenario.flip('down', 60).until(400)
    t.deepEqual(
      scenario.personal.map(({ name }) => name),
      ['Patch night'],
    )
    t.like(scenario.decisions.at(-1), { outcome: 'notified', detail: { name: 'Patch night' } })
  }
})

test('a step restarts only its own sequences, by a repeat', (t) => {
  const steps = [
    stepOf(0, { people: [person('anna')], repeat: { every: 200, times: 1 } }),
    stepOf(100, { people: [person('anna'), person('ben')] }),
  ]
  const scenario = new Scenario({ plan: { steps }, people: peopleFacts(people) })
  scenario.flip('down', 0).until(5000)
  t.deepEqual(sent(scenario), [
    '0 anna-ntfy first FIRST',
    '100 ben-email first STEP',
    '200 anna-ntfy repeat REPEAT',
    '500 anna-call repeat REPEAT',
  ])
  t.true(noted(scenario).includes('100 anna ALREADY_NOTIFIED'))
  t.is(scenario.incident?.exhaustedAt, (scenario.decisions.at(-1)?.at ?? 0) * 1e6 + Date.UTC(2026, 10, 22, 10) * 1000)
})

test('a shift change ends the sequence and starts that of the next person', (t) => {
  const steps = [stepOf(0, { people: [onCall(1)] })]
  for (let second = 1; second <= 310; second++) {
    const shifts = [
      [
        [0, 'anna'],
        [second, 'ben'],
      ] as const,
    ]
    const scenario = new Scenario({ plan: { steps }, people: peopleFacts(people, shifts) }).flip('down', 0)
    scenario.until(1000).flip('up', 2000)
    t.deepEqual(sent(scenario), [
      '0 anna-ntfy first FIRST',
      ...(second > 300 ? ['300 anna-call first FIRST'] : []),
      `${second} ben-email first SHIFT_CHANGED`,
      '2000 anna-ntfy recovery -',
      '2000 ben-email recovery -',
    ])
    t.true(noted(scenario).includes(`${second} anna SHIFT_ENDED`))
  }
})

test('a step that reaches no person does not wait', (t) => {
  const steps = [
    stepOf(0, { people: [onCall(1), person('carl')] }),
    stepOf(900, { people: [person('ben')] }),
    stepOf(900, { people: [person('anna')] }),
  ]
  const scenario = new Scenario({ plan: { steps }, people: peopleFacts(people, [[[0, null]]]) }).flip('down', 0)
  t.deepEqual(sent(scenario), ['0 ben-email first NOBODY_REACHED'])
  t.deepEqual(noted(scenario).slice(0, 2), ['0 - NOBODY_ON_CALL', '0 carl UNREACHABLE'])
  scenario.until(899)
  t.is(scenario.personal.length, 1, 'the next step waits for an acknowledgement')
  scenario.until(900)
  t.is(scenario.personal.at(-1)?.method, 'anna-ntfy')

  const failing = new Scenario({
    plan: { steps: steps.slice(1) },
    people: peopleFacts(people),
    personalOutcome: (method) => (method === 'ben-email' ? 'failed' : 'delivered'),
  }).flip('down', 0)
  failing.until(901).until(920)
  t.deepEqual(sent(failing), ['900 ben-email first FIRST', '901 anna-ntfy first NOBODY_REACHED'])
})

test('the fallback follows once, or at once if no person was reached', (t) => {
  const fallback = { wait: 600, people: [person('ben')], channels: [uuidOf(1)] }
  const plan = { steps: [stepOf(0, { people: [person('anna')] })], fallback }
  const scenario = new Scenario({ plan, people: peopleFacts(people) }).flip('down', 0).until(10_000)
  t.deepEqual(sent(scenario).slice(2), ['900 ben-email first FALLBACK'])
  t.deepEqual(scenario.sent, ['900:1:first'])
  t.is(scenario.incident?.nextAt, null)

  const empty = { ...plan, steps: [stepOf(0, { people: [person('carl')] })] }
  const early = new Scenario({ plan: empty, people: peopleFacts(people) }).flip('down', 0).until(10_000)
  t.deepEqual(sent(early), ['0 ben-email first FALLBACK'])
  t.deepEqual(early.lastResorts, [])
})

test('owners and managers get one mail if neither a step nor the fallback reaches a person', (t) => {
  const steps = [stepOf(0, { people: [person('carl')], repeat: { every: 600, times: null } })]
  const fallback = { wait: 600, people: [person('left')], channels: [] }
  for (const plan of [{ steps }, { steps, fallback }]) {
    const scenario = new Scenario({ plan, people: peopleFacts(people) }).flip('down', 0).until(5000)
    t.deepEqual(scenario.lastResorts, [0])
    t.like(scenario.decisions[0], { outcome: 'notified', reason: 'LAST_RESORT' })
  }
})

test('an acknowledgement ends the sequences and notifies the other recipients', (t) => {
  const plan = {
    steps: [stepOf(0, { people: [person('anna'), person('ben')], own: true }), stepOf(900, { people: [onCall(1)] })],
    notify_ack: true,
  }
  const channels = [{}, { isReader: false }]
  const scenario = new Scenario({ plan, channels, people: peopleFacts(people, [[[0, 'ben']]]) }).flip('down', 0)
  scenario
    .until(60)
    .act({ kind: 'ack', by: address('anna'), via: 'sms', seconds: null })
    .until(5000)
  t.deepEqual(sent(scenario).slice(2), ['60 ben-email ack ACKNOWLEDGED'])
  t.deepEqual(scenario.sent.slice(2), ['60:1:ack'])
  scenario.unack().until(10_000)
  t.deepEqual(sent(scenario).slice(3), ['5840 ben-email first STEP'], 'the plan continues where it was')
})

test('quiet hours delay incidents that are not critical, as one message', (t) => {
  const quiet = [{ every: '0 10 * * *', for: 3600, tz: 'UTC' }]
  const sleeper = factPerson(
    1,
    'anna',
    [
      [0, 'ntfy'],
      [300, 'sms'],
      [4000, 'email'],
    ],
    { quiet },
  )
  const steps = [stepOf(0, { people: [person('anna')] })]
  const options = { plan: { steps }, people: peopleFacts([sleeper]) }
  const scenario = new Scenario({ ...options, severity: 'warning' }).flip('down', 0).until(5000)
  t.deepEqual(sent(scenario), ['3600 anna-ntfy first FIRST', '4000 anna-email first FIRST'])
  t.deepEqual(noted(scenario)[0], '0 anna QUIET_HOURS')
  t.is(
    new Scenario(options).flip('down', 0).until(5000).personal.length,
    3,
    'quiet hours do not delay critical incidents',
  )
})

test('a grouping delay applies to integrations but not to people', (t) => {
  const plan = {
    steps: [stepOf(0, { people: [person('ben')], own: true }), stepOf(300, { people: [person('anna')] })],
    group: { checks: 20, within: 60 },
  }
  const scenario = new Scenario({ plan, people: peopleFacts(people) }).flip('down', 0).until(400)
  t.deepEqual(sent(scenario), ['0 ben-email first FIRST', '300 anna-ntfy first STEP'])
  t.deepEqual(scenario.sent, ['60:1:first'])
})

test('unusable methods and former members are skipped', (t) => {
  const methods = anna.methods.map((method) => ({ ...method, isUsable: method.kind !== 'call' }))
  const change = (now: number) =>
    peopleFacts(now < Date.UTC(2026, 10, 22, 10, 1) * 1000 ? people : [{ ...anna, methods }])(now)
  const steps = [stepOf(0, { people: [person('anna'), person('ben')], repeat: { every: 900, times: 1 } })]
  const scenario = new Scenario({ plan: { steps }, people: change }).flip('down', 0).until(899)
  t.deepEqual(sent(scenario), ['0 anna-ntfy first FIRST', '0 ben-email first FIRST'])
  t.true(noted(scenario).includes('300 anna METHOD_DISABLED'))
  scenario.flip('up', 899)
  t.deepEqual(sent(scenario).slice(2), ['899 anna-ntfy recovery -'])
})
