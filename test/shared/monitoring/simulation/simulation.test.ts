import test from 'ava'
import { IMPLICIT_PLAN, type Plan } from '#shared/monitoring/alerting/policy.ts'
import { NO_RULES, type RuleFields, readRules } from '#shared/monitoring/alerting/read-policy.ts'
import type { Gap } from '#shared/monitoring/availability/unavailable.ts'
import { applySpec } from '#shared/monitoring/checks/settings.ts'
import { freshCheck, freshRuling } from '#shared/monitoring/operations/simulated-check.ts'
import { ParentHistory, type PastFlip } from '#shared/monitoring/simulation/parent-history.ts'
import { assumptionsOf, simulatedText } from '#shared/monitoring/simulation/simulated.ts'
import { Simulation, type SimulationInput } from '#shared/monitoring/simulation/simulation.ts'
import type { Played } from '#shared/monitoring/simulation/virtual-check.ts'
import { type Micros, microsOfSeconds, toIsoSeconds } from '#shared/time.ts'

const DAY = 1_763_856_000_000_000
/** Returns an instant of a Sunday. @param clock for example 10:32, or 26:00 for the next day */
function at(clock: string): Micros {
  const [hours = 0, minutes = 0, seconds = 0] = clock.split(':').map(Number)
  return DAY + microsOfSeconds(hours * 3600 + minutes * 60 + seconds)
}

const ping = (clock: string, kind: 'success' | 'start' | 'fail' = 'success', rid: string | null = null, source = '') =>
  ({ kind, at: at(clock), rid, source, listener: 'http' }) satisfies Played

/** Returns pings at an interval in minutes, from the first to the last instant. */
function every(minutes: number, from: string, until: string): Played[] {
  const pings: Played[] = []
  for (let time = at(from); time <= at(until); time += microsOfSeconds(minutes * 60)) {
    pings.push({ kind: 'success', at: time, rid: null, source: '', listener: 'http' })
  }
  return pings
}

const gap = (from: string, until: string): Gap => ({
  listener: 'http',
  shards: 1n,
  from: at(from),
  until: at(until),
  kind: 'full',
  cause: 'process lost',
})

interface Settings {
  /** seconds */
  period?: number
  grace?: number
  schedule?: string
  rules?: Parameters<typeof readRules>[0]
  plan?: Partial<Plan> | null
}

function simulate(played: Played[], input: Settings & Partial<Omit<SimulationInput, 'policy' | 'check'>>) {
  const { period = 600, grace = 60, schedule, rules: ruleInput = {}, plan = {}, ...more } = input
  const rules: RuleFields = readRules(ruleInput, NO_RULES, 'rules.')
  const spec = schedule === undefined ? { timeoutSeconds: period } : { schedule }
  const settings = applySpec(null, { ...spec, graceSeconds: grace }, { slugFromName: false })
  const uuid = '00000000-0000-4000-8000-0000000000aa'
  const requested = { id: 1, uuid, name: 'web', tags: '', settings, integrationIds: [], rules }
  const integration = { uuid: 'chat', isOwn: true, isDisabled: false, ignores: { up: false, down: false } }
  const simulation = new Simulation({
    check: { ...freshCheck(requested), uuid, tags: [] },
    played,
    ruleState: freshRuling(requested),
    gaps: [],
    refusals: [],
    shard: 1n,
    policy: plan && { id: 1, version: 1, plan: { ...IMPLICIT_PLAN, ...plan } },
    severity: 'critical',
    integrations: [{ id: 1, ...integration, keepsRecord: false, isReader: true, isOverReserve: false }],
    people: null,
    windows: [],
    parents: null,
    otherOutages: [],
    notifiesUnknown: true,
    from: at('00:00'),
    until: at('72:00'),
    ...more,
  })
  while (simulation.step());
  const { messages, decisions, flips } = simulation.result()
  const clock = (time: Micros) => toIsoSeconds(time).slice(11, 19)
  return {
    messages: messages.map((message) => `${clock(message.at)} ${simulatedText(message, 'web')}`),
    decisions: decisions.map(({ at: time, outcome, reason }) => `${clock(time)} ${outcome} ${reason}`),
    flips: flips.map(({ at: time, up }) => `${clock(time)} ${up ? 'up' : 'down'}`),
  }
}

test('a coverage gap extends the deadline by one period and grace', (t) => {
  const killed = { period: 60, grace: 60, gaps: [gap('10:00', '10:30')] }
  const lives = simulate([...every(1, '09:00', '09:59'), ...every(1, '10:31', '11:00')], {
    ...killed,
    until: at('11:00'),
  })
  t.deepEqual(lives.messages, [])
  t.deepEqual(lives.flips, ['09:00:00 up'])
  t.deepEqual(lives.decisions, ['10:30:00 deadline_extended GAP'])
  const died = simulate(every(1, '09:00', '09:59'), killed)
  t.deepEqual(died.flips, ['09:00:00 up', '10:32:00 down'])
  t.deepEqual(died.messages, ['10:32:00 DOWN | web'])
  t.deepEqual(simulate(every(1, '09:00', '09:59'), { ...killed, gaps: [] }).flips, ['09:00:00 up', '10:01:00 down'])
})

test('notifies of a check that stays unknown for more than an hour', (t) => {
  const daily = { schedule: '0 3 * * *', grace: 3600, gaps: [gap('26:50', '27:20')], until: at('40:00') }
  t.deepEqual(simulate([ping('03:00')], daily).messages, ['04:02:00 UNKNOWN | 1 check'])
  t.deepEqual(simulate([ping('03:00'), ping('28:01')], daily).messages, [])
  t.deepEqual(simulate([ping('03:00')], { ...daily, notifiesUnknown: false }).messages, [])
})

test('a refused ping extends the deadline of its check', (t) => {
  const refused = simulate([ping('10:00')], { refusals: [at('10:09')], until: at('10:19') })
  t.deepEqual(refused.decisions, ['10:11:00 deadline_extended REFUSED_PING'])
  t.deepEqual(refused.flips, ['10:00:00 up'])
})

const flip = (clock: string, to: 'up' | 'down', reason: '' | 'timeout' = ''): PastFlip => ({
  at: at(clock),
  to,
  reason,
})

function below(flips: PastFlip[]): ParentHistory {
  const uuid = '00000000-0000-4000-8000-0000000000aa'
  const router = {
    uuid: 'router',
    name: 'router',
    tags: [],
    parents: [],
    mode: 'any' as const,
    graceSeconds: 60,
    flips,
  }
  return new ParentHistory({ uuid, name: 'web', tags: [], parents: [{ check: 'router' }], mode: 'any' }, [router])
}

test('a child that recovers after its parent sends no notification', (t) => {
  const parents = below([flip('09:00', 'up'), flip('10:06', 'down', 'timeout'), flip('10:40', 'up')])
  const both = simulate([ping('10:00'), ...every(10, '10:42', '11:42')], { parents, until: at('11:43') })
  t.deepEqual(both.messages, [])
  t.true(both.decisions.includes('10:11:00 suppressed PARENT_DOWN'), String(both.decisions))
  const stays = simulate([ping('10:00')], { parents, until: at('11:43') })
  t.deepEqual(stays.messages, ['10:51:00 DOWN | web'], 'one period and grace after the parent came up')
  t.true(stays.decisions.includes('10:51:00 notified PARENT_UP'), String(stays.decisions))
  const alone = simulate([ping('10:00')], { parents: below([flip('09:00', 'up')]), until: at('11:43') })
  t.deepEqual(alone.messages, ['10:11:00 DOWN | web'])
})

test('a late parent delays its child, and suppresses it when down', (t) => {
  const parents = below([flip('09:00', 'up'), flip('10:11:30', 'down', 'timeout'), flip('10:40', 'up')])
  const late = simulate([ping('10:00'), ping('10:41')], { parents, until: at('10:50') })
  t.deepEqual(late.messages, [])
  t.deepEqual(late.decisions.slice(0, 2), ['10:11:00 suppressed PARENT_LATE', '10:11:30 suppressed PARENT_DOWN'])
})

test('outages of other checks within the grouping delay make a digest', (t) => {
  const group = { checks: 3, within: 60 }
  const otherOutages = [
    { from: at('10:10:30'), until: at('10:30:10') },
    { from: at('10:10:40'), until: null },
  ]
  const played = [ping('10:00'), ping('10:30')]
  const many = simulate(played, { plan: { group }, otherOutages, until: at('10:40') })
  t.deepEqual(many.messages, ['10:11:30 3 checks are DOWN', '10:30:30 2 checks are UP'])
  t.true(many.decisions.includes('10:11:30 notified IN_DIGEST'), String(many.decisions))
  const few = simulate(played, { plan: { group }, otherOutages: otherOutages.slice(1), until: at('10:40') })
  t.deepEqual(few.messages, ['10:11:40 DOWN | web', '10:30:00 UP | web'])
  const later = simulate(played, {
    plan: { group },
    otherOutages: [{ from: at('10:20'), until: null }],
    until: at('10:40'),
  })
  t.deepEqual(later.messages, ['10:12:00 DOWN | web', '10:30:00 UP | web'], 'the message waits for the grouping delay')
})

test('each simulated run has its own deadline', (t) => {
  const [a, b] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
  const rules = { run: { watch: 'each', max: 3600 } }
  const played = [
    ping('10:00', 'start', a),
    ping('10:30', 'start', b),
    ping('10:40', 'success', b),
    ping('11:20', 'success', a),
  ]
  const each = simulate(played, { period: 86_400, rules, until: at('12:00') })
  t.deepEqual(each.flips, ['10:40:00 up', '11:00:00 down', '11:20:00 up'])
  t.deepEqual(each.messages, ['11:00:00 DOWN | web', '11:20:00 UP | web'])
})

test('a simulated quorum breaks at the second missed deadline', (t) => {
  const rules = { sources: { by: 'query', expect: ['a', 'b', 'c'], need: 2 } }
  const source = (clock: string, name: string) => ping(clock, 'success', null, name)
  const played = [source('12:00', 'a'), source('12:05', 'b'), source('12:06', 'c'), source('12:15', 'c')]
  const quorum = simulate(played, { rules, until: at('12:20') })
  t.deepEqual(quorum.flips, ['12:00:00 up', '12:16:00 down'])
})

test('a pause ends the simulated incident without a notification', (t) => {
  const played: Played[] = [ping('10:00'), ping('10:05', 'fail'), { kind: 'pause', at: at('10:10') }]
  const paused = simulate(played, {
    plan: { steps: [{ ...IMPLICIT_PLAN.steps[0], repeat: { every: 600, times: null } }] as Plan['steps'] },
  })
  t.deepEqual(paused.messages, ['10:05:00 DOWN | web'])
})

test('simulates recorded flips by the plan', (t) => {
  const change = (clock: string, from: 'up' | 'down', to: 'up' | 'down'): Played => ({
    kind: 'change',
    at: at(clock),
    change: { from, to, reason: to === 'down' ? 'timeout' : '', processed: false },
  })
  const played = [change('10:00', 'up', 'down'), change('10:14:59', 'down', 'up')]
  const step = { ...IMPLICIT_PLAN.steps[0] } as Plan['steps'][number]
  const plan = { steps: [step, { ...step, wait: 900 }] }
  t.deepEqual(simulate(played, { plan }).messages, ['10:00:00 DOWN | web', '10:14:59 UP | web'])
})

test('lists the assumptions about delivery, acknowledgement and escalation', (t) => {
  const detail = { step: 0, repeat: 0, reason: 'FIRST', dueAt: 0 } as const
  const first = { at: 0, integration: '', recipient: null, what: 'first', status: 'down', detail, size: 1 } as const
  const [one] = IMPLICIT_PLAN.steps
  const steps = one ? [one, { ...one, wait: 900 }] : []
  t.deepEqual(assumptionsOf({ messages: [] }, IMPLICIT_PLAN), [])
  t.is(assumptionsOf({ messages: [first] }, IMPLICIT_PLAN).length, 2)
  t.is(
    assumptionsOf({ messages: [first] }, { ...IMPLICIT_PLAN, steps })[2],
    'If no message of step 1 could be delivered, step 2 would be sent without its wait.',
  )
})
