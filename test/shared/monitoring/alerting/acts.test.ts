import test from 'ava'
import { type Acted, type ActedIncident, decideAct, type IncidentAct } from '#shared/monitoring/alerting/decide-act.ts'
import { furtherStep } from '#shared/monitoring/alerting/plan.ts'
import { microsOfSeconds } from '#shared/time.ts'
import { Scenario, SECOND, START, uuidOf } from '../alert-scenario.ts'
import { chance, forAll, INTEGRATIONS, randomPlan } from '../random-plans.ts'

const none = { ack: null, isEscalating: false, assignee: null }
const acked = { at: START, by: 'anna', via: 'api', until: null, isSnooze: false }
const STATES = {
  waiting: { ...none, state: 'waiting', alertAt: null },
  alerting: { ...none, state: 'alerting', alertAt: START },
  acknowledged: { ...none, state: 'acknowledged', alertAt: START, ack: acked },
  snoozed: { ...none, state: 'acknowledged', alertAt: START, ack: { ...acked, until: START + 1, isSnooze: true } },
  resolved: { ...none, state: 'resolved', alertAt: START },
} as const satisfies Record<string, ActedIncident>

const ACTS = {
  ack: { kind: 'ack', by: 'ben', via: 'page', seconds: null },
  snooze: { kind: 'ack', by: 'ben', via: 'page', seconds: 600 },
  take: { kind: 'take', person: 'ben', via: 'page' },
  unack: { kind: 'unack' },
  escalate: { kind: 'escalate' },
  assign: { kind: 'assign', to: 'carl', notify: false },
  reassign: { kind: 'assign', to: 'carl', notify: true },
  unassign: { kind: 'assign', to: null, notify: true },
} as const satisfies Record<string, IncidentAct>

/** State and acknowledger after the act, `-` for no change, or the conflict. */
const TABLE = {
  ack: ['acknowledged ben', 'acknowledged ben', '-', 'acknowledged ben', 'incident is resolved'],
  snooze: ['snoozed ben', 'snoozed ben', 'snoozed ben', 'snoozed ben', 'incident is resolved'],
  take: [
    ...['acknowledged ben, assigned to ben', 'acknowledged ben, assigned to ben'],
    ...['acknowledged ben, assigned to ben', 'acknowledged ben, assigned to ben', 'incident is resolved'],
  ],
  unack: [
    'incident is not acknowledged',
    'incident is not acknowledged',
    'alerting',
    'alerting',
    'incident is resolved',
  ],
  escalate: ['waiting, escalating', ...Array(3).fill('alerting, escalating'), 'incident is resolved'],
  assign: [
    ...['waiting, assigned to carl', 'alerting, assigned to carl', 'acknowledged anna, assigned to carl'],
    ...['snoozed anna, assigned to carl', 'resolved, assigned to carl'],
  ],
  reassign: [
    ...['waiting, assigned to carl, notified', ...Array(3).fill('alerting, assigned to carl, notified')],
    'resolved, assigned to carl',
  ],
  unassign: ['waiting', 'alerting', 'acknowledged anna', 'snoozed anna', 'resolved'],
} as const satisfies Record<keyof typeof ACTS, readonly string[]>

const FACTS = { now: START + 50, ackTimeout: 900, hasFurtherStep: true }

function textOf(acted: Acted): string {
  if ('conflict' in acted) return acted.conflict
  if (!acted.changed) return '-'
  const { state, ack, isEscalating, assignee, reassigned } = acted.changed
  const label = ack ? `${ack.isSnooze ? 'snoozed' : state} ${ack.by}` : state
  const assigned = assignee === null ? '' : `, assigned to ${assignee}`
  return `${label}${isEscalating ? ', escalating' : ''}${assigned}${reassigned === undefined ? '' : ', notified'}`
}

test('each action has the documented effect in each state', (t) => {
  for (const [name, expected] of Object.entries(TABLE)) {
    const act = ACTS[name as keyof typeof ACTS]
    const texts = Object.values(STATES).map((state) => textOf(decideAct(state, act, FACTS)))
    t.deepEqual(texts, [...expected], name)
  }
})

test('an acknowledgement ends after its timeout, a snooze after its duration', (t) => {
  const untilOf = (act: IncidentAct) => {
    const acted = decideAct(STATES.alerting, act, FACTS)
    return 'changed' in acted ? acted.changed?.ack?.until : undefined
  }
  t.is(untilOf(ACTS.ack), FACTS.now + microsOfSeconds(900))
  t.is(untilOf(ACTS.take), FACTS.now + microsOfSeconds(900))
  t.is(untilOf(ACTS.snooze), FACTS.now + microsOfSeconds(600))
})

test('escalating without a further step, or twice, changes nothing', (t) => {
  t.is(textOf(decideAct(STATES.alerting, ACTS.escalate, { ...FACTS, hasFurtherStep: false })), 'no further step')
  t.is(textOf(decideAct({ ...STATES.alerting, isEscalating: true }, ACTS.escalate, FACTS)), '-')
})

const step = {
  wait: 0,
  channels: null,
  people: [],
  own: null,
  severity: 'info',
  repeat: null,
  hours: [],
  outside: 'wait',
} as const

test('the end of a snooze notifies again, also after the last step', (t) => {
  const scenario = new Scenario({ plan: { steps: [step] } }).flip('down', 0).until(60).snooze(600)
  t.deepEqual(scenario.until(659).sent, ['0:1:first'])
  t.deepEqual(scenario.until(5000).sent, ['0:1:first', '660:1:first'])
  t.is(scenario.messages.at(-1)?.reason, 'SNOOZE_ENDED')
  scenario.snooze(600).until(9000)
  t.is(scenario.messages.length, 3, 'the end of a second snooze notifies as well')
})

test('the end of a snooze notifies the own integrations of a check without a policy', (t) => {
  const scenario = new Scenario({ plan: null }).flip('down', 0).until(60).snooze(600).until(5000)
  t.deepEqual(scenario.sent, ['0:1:down', '660:1:repeat'])
  t.is(scenario.incident?.state, 'alerting')
  t.deepEqual(scenario.flip('up', 6000).sent.slice(2), ['6000:1:up'])
})

test('a snooze of a check that recovers sends the recovery only', (t) => {
  const scenario = new Scenario({ plan: { steps: [step] } }).flip('down', 0).until(60).snooze(600)
  t.deepEqual(scenario.flip('up', 300).until(5000).sent, ['0:1:first', '300:1:recovery'])
})

test('escalation begins a plan whose conditions are not met, and ends an acknowledgement', (t) => {
  const plan = { when: { failures: 1, of: null, down_for: 900, successes: 1 }, steps: [step, { ...step, wait: 3600 }] }
  const scenario = new Scenario({ plan }).flip('down', 0).until(60).escalate()
  t.deepEqual(scenario.sent, ['60:1:first'])
  scenario.until(100).ack().until(200).escalate()
  t.deepEqual(scenario.sent, ['60:1:first', '200:1:first'])
  t.is(scenario.messages.at(-1)?.reason, 'ESCALATED')
  t.is(scenario.incident?.state, 'alerting')
  t.deepEqual(scenario.until(90_000).escalate().sent.length, 2, 'no further step')
})

test('a snooze under a random plan is silent until its end, then notifies once', (t) => {
  const failure = forAll((random) => {
    const { below } = chance(random)
    const plan = { ...randomPlan(random), flapping: null }
    const scenario = new Scenario({ plan, channels: Array(INTEGRATIONS).fill({}) })
    scenario.flip('down', 0).until(below(5000))
    const before = scenario.messages.length
    const length = 300 + below(5000)
    const isNotified = scenario.incident?.notified.some((entries) => entries > 0)
    const end = (scenario.now - START) / SECOND + length
    scenario.snooze(length).until(end - 1)
    if (scenario.messages.length > before) return `sent ${scenario.sent.slice(before).join(', ')} during the snooze`
    const after = scenario.until(end).messages.slice(before)
    if (isNotified && after.length === 0) return 'the end of the snooze sent nothing'
    if (after.some(({ reason }) => reason !== 'SNOOZE_ENDED')) return `sent ${JSON.stringify(after)}`
    return onceEach(scenario.flip('up', end + 60))
  })
  t.is(failure, null)
})

test('an escalation under a random plan sends the next step at once and repeats no entry', (t) => {
  const failure = forAll((random) => {
    const { below, pick } = chance(random)
    const crashes = () => ({ before: 0, after: below(3) === 0 })
    const plan = { ...randomPlan(random), flapping: null }
    const scenario = new Scenario({ plan, channels: Array(INTEGRATIONS).fill({}), crashes })
    scenario.flip('down', 0)
    for (let round = 1 + below(4), at = 0; round > 0; round--) {
      at += below(pick(10, 1000, 5000))
      scenario.until(at)
      const { incident, policy } = scenario
      if (!incident || !policy) return 'the incident has ended'
      const next = furtherStep(policy.plan, incident)
      const before = scenario.messages.length
      scenario.escalate()
      const sent = scenario.messages.slice(before)
      if (next === null && sent.length > 0) return `sent ${JSON.stringify(sent)} without a further step`
      if (next !== null && !sent.some((one) => one.step !== null && one.step >= next))
        return `step ${next} was not sent`
    }
    scenario.until(20_000)
    const keys = scenario.messages.map((one) => `${one.integration} ${one.step} ${one.repeat}`)
    const twice = keys.find((key, index) => keys.indexOf(key) !== index)
    if (twice !== undefined) return `sent twice: ${twice}; ${scenario.sent.join(', ')}`
    return onceEach(scenario.flip('up', 20_060))
  })
  t.is(failure, null)
})

/** Returns an error for a reused key of the database, or for an integration without exactly one recovery. */
function onceEach({ notifications }: Scenario): string | null {
  const keys = notifications.map((one) => `${one.integrationId} ${one.what} ${one.entry}`)
  const twice = keys.find((key, index) => keys.indexOf(key) !== index)
  if (twice !== undefined) return `the key ${twice} is used twice`
  for (const id of new Set(notifications.map(({ integrationId }) => integrationId))) {
    const recoveries = notifications.filter((one) => one.integrationId === id && one.status === 'up')
    if (recoveries.length !== 1) return `integration ${uuidOf(id)} has ${recoveries.length} recoveries`
  }
  return null
}
