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
/** An instant of a Sunday, like 10:32 or 10:32:05; beyond 24 hours of the next day. */
function at(clock: string): Micros {
  const [hours = 0, minutes = 0, seconds = 0] = clock.split(':').map(Number)
  return DAY + microsOfSeconds(hours * 3600 + minutes * 60 + seconds)
}

const ping = (clock: string, kind: 'success' | 'start' | 'fail' = 'success', rid: string | null = null, source = '') =>
  ({ kind, at: at(clock), rid, source, listener: 'http' }) satisfies Played

/** Pings each so many minutes, from the first to the last instant. */
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

interface Told {
  /** seconds */
  period?: number
  grace?: number
  schedule?: string
  rules?: Parameters<typeof readRules>[0]
  plan?: Partial<Plan> | null
}

function simulate(played: Played[], notified: Told & Partial<Omit<SimulationInput, 'policy' | 'check'>>) {
  const { period = 600, grace = 60, schedule, rules: given = {}, plan = {}, ...more } = notified
  const rules: RuleFields = readRules(given, NO_RULES, 'rules.')
  const spec = schedule === undefined ? { timeoutSeconds: period } : { schedule }
  const settings = applySpec(null, { ...spec, graceSeconds: grace }, { slugFromName: false })
  const uuid = '00000000-0000-4000-8000-0000000000aa'
  const requested = { id: 1, uuid, name: 'web', tags: '', settings, integrationIds: [], rules }
  const channel = { uuid: 'chat', isOwn: true, isDisabled: false, ignores: { up: false, down: false } }
  const simulation = new Simulation({
    check: { ...freshCheck(requested), uuid, tags: [] },
    played,
    ruleState: freshRuling(requested),
    gaps: [],
    refusals: [],
    shard: 1n,
    policy: plan && { id: 1, version: 1, plan: { ...IMPLICIT_PLAN, ...plan } },
    severity: 'critical',
    channels: [{ id: 1, ...channel, keepsRecord: false, isReader: true, isOverReserve: false }],
    windows: [],
    parents: null,
    crowd: [],
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

test('a gap of ours excuses who was expected in it; who is dead goes down one period and grace after its end', (t) => {
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

test('a job that is not expected again for more than an hour is named in a notice, unless it is heard or nobody wants one', (t) => {
  const daily = { schedule: '0 3 * * *', grace: 3600, gaps: [gap('26:50', '27:20')], until: at('40:00') }
  t.deepEqual(simulate([ping('03:00')], daily).messages, ['04:02:00 UNKNOWN | 1 check'])
  t.deepEqual(simulate([ping('03:00'), ping('28:01')], daily).messages, [])
  t.deepEqual(simulate([ping('03:00')], { ...daily, notifiesUnknown: false }).messages, [])
})

test('a check whose pings were refused is excused until the last refusal', (t) => {
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

test('Given "router" above "web", both silent, when both are back, then nobody ever hears of "web"', (t) => {
  const parents = below([flip('09:00', 'up'), flip('10:06', 'down', 'timeout'), flip('10:40', 'up')])
  const both = simulate([ping('10:00'), ...every(10, '10:42', '11:42')], { parents, until: at('11:43') })
  t.deepEqual(both.messages, [])
  t.true(both.decisions.includes('10:11:00 suppressed PARENT_DOWN'), String(both.decisions))
  const stays = simulate([ping('10:00')], { parents, until: at('11:43') })
  t.deepEqual(stays.messages, ['10:51:00 DOWN | web'], 'it had its chance after the parent came back')
  t.true(stays.decisions.includes('10:51:00 notified PARENT_UP'), String(stays.decisions))
  const alone = simulate([ping('10:00')], { parents: below([flip('09:00', 'up')]), until: at('11:43') })
  t.deepEqual(alone.messages, ['10:11:00 DOWN | web'])
})

test('a parent that is late is waited for, and holds once it is down', (t) => {
  const parents = below([flip('09:00', 'up'), flip('10:11:30', 'down', 'timeout'), flip('10:40', 'up')])
  const late = simulate([ping('10:00'), ping('10:41')], { parents, until: at('10:50') })
  t.deepEqual(late.messages, [])
  t.deepEqual(late.decisions.slice(0, 2), ['10:11:00 suppressed PARENT_LATE', '10:11:30 suppressed PARENT_DOWN'])
})

test('other checks of the policy that were down within its time make a digest of it, and of its recovery', (t) => {
  const group = { checks: 3, within: 60 }
  const crowd = [
    { from: at('10:10:30'), until: at('10:30:10') },
    { from: at('10:10:40'), until: null },
  ]
  const played = [ping('10:00'), ping('10:30')]
  const many = simulate(played, { plan: { group }, crowd, until: at('10:40') })
  t.deepEqual(many.messages, ['10:11:30 3 checks are DOWN', '10:30:30 2 checks are UP'])
  t.true(many.decisions.includes('10:11:30 notified IN_DIGEST'), String(many.decisions))
  const few = simulate(played, { plan: { group }, crowd: crowd.slice(1), until: at('10:40') })
  t.deepEqual(few.messages, ['10:11:40 DOWN | web', '10:30:00 UP | web'])
  const later = simulate(played, { plan: { group }, crowd: [{ from: at('10:20'), until: null }], until: at('10:40') })
  t.deepEqual(later.messages, ['10:12:00 DOWN | web', '10:30:00 UP | web'], 'it waits all the same')
})

test('runs each have their deadline: A from 10:00 is down at 11:00 although B succeeds, and up when it succeeds itself', (t) => {
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

test('two of three sources are needed: the deadline of the second that falls silent takes the check down', (t) => {
  const rules = { sources: { by: 'query', expect: ['a', 'b', 'c'], need: 2 } }
  const source = (clock: string, name: string) => ping(clock, 'success', null, name)
  const played = [source('12:00', 'a'), source('12:05', 'b'), source('12:06', 'c'), source('12:15', 'c')]
  const quorum = simulate(played, { rules, until: at('12:20') })
  t.deepEqual(quorum.flips, ['12:00:00 up', '12:16:00 down'])
})

test('a pause ends the incident and tells people nothing', (t) => {
  const played: Played[] = [ping('10:00'), ping('10:05', 'fail'), { kind: 'pause', at: at('10:10') }]
  const paused = simulate(played, {
    plan: { steps: [{ ...IMPLICIT_PLAN.steps[0], repeat: { every: 600, times: null } }] as Plan['steps'] },
  })
  t.deepEqual(paused.messages, ['10:05:00 DOWN | web'])
})

test('recorded changes are told as they were, by the plan', (t) => {
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

test('what is taken for granted is said: delivery, that nobody acknowledges, and which step would have come sooner', (t) => {
  const detail = { step: 0, repeat: 0, reason: 'FIRST', dueAt: 0 } as const
  const first = { at: 0, channel: '', what: 'first', status: 'down', detail, size: 1 } as const
  const [one] = IMPLICIT_PLAN.steps
  const steps = one ? [one, { ...one, wait: 900 }] : []
  t.deepEqual(assumptionsOf({ messages: [] }, IMPLICIT_PLAN), [])
  t.is(assumptionsOf({ messages: [first] }, IMPLICIT_PLAN).length, 2)
  t.is(
    assumptionsOf({ messages: [first] }, { ...IMPLICIT_PLAN, steps })[2],
    'If no message of step 1 could be delivered, step 2 would be sent without its wait.',
  )
})
