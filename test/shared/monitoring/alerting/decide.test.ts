import test from 'ava'
import type { Step } from '#shared/monitoring/alerting/policy.ts'
import { Scenario, SECOND, START, uuidOf } from '../alert-scenario.ts'

const step = (wait: number, rest: Partial<Step> = {}): Step => ({
  wait,
  channels: null,
  ...{ people: [], own: null },
  severity: 'info',
  repeat: null,
  hours: [],
  outside: 'wait',
  ...rest,
})
const when = { failures: 1, of: null, down_for: 0, successes: 1 }

test('without a policy, every flip notifies all integrations directly', (t) => {
  const integrations = [{}, { ignores: { up: true, down: false } }, { isDisabled: true }]
  const scenario = new Scenario({ plan: null, channels: integrations })
  scenario.flip('down', 0).flip('up', 600)
  t.deepEqual(scenario.sent, ['0:1:down', '0:2:down', '600:1:up'])
  t.like(scenario.incidents[0], { state: 'resolved', resolution: 'recovered', isDirect: true, nextAt: null, flips: 2 })
  t.deepEqual(
    scenario.decisions.map(({ outcome, reason }) => `${outcome} ${reason}`),
    ['notified DIRECT', 'notified DIRECT'],
  )
})

test('a check that recovers before step 2 notifies only step 1', (t) => {
  const steps = [step(0, { channels: [uuidOf(1)] }), step(900, { channels: [uuidOf(2)] })]
  const scenario = new Scenario({ plan: { steps }, channels: [{}, {}] })
  scenario.flip('down', 0).flip('up', 899).until(5000)
  t.deepEqual(scenario.sent, ['0:1:first', '899:1:recovery'])
})

test('sends step 2 without its wait if step 1 reached its SMS limit', (t) => {
  const steps = [
    step(0, { channels: [uuidOf(1)] }),
    step(900, { channels: [uuidOf(2)] }),
    step(600, { channels: [uuidOf(3)] }),
  ]
  const scenario = new Scenario({
    plan: { steps },
    channels: [{}, {}, {}],
    outcome: (integration) => (integration === 1 ? 'suppressed' : 'delivered'),
  })
  scenario.flip('down', 0).until(5000)
  t.deepEqual(scenario.sent, ['0:1:first', '1:2:first', '601:3:first'])
  t.is(scenario.messages[1]?.reason, 'FIRST_STEP_FAILED')
  scenario.flip('up', 6000)
  t.deepEqual(scenario.sent.slice(3), ['6000:2:recovery', '6000:3:recovery'], 'no recovery without an attempt')
})

test('a skipped wait moves later steps but not repeats of the failed step', (t) => {
  const steps = [
    step(0, { channels: [uuidOf(1)], repeat: { every: 3600, times: null } }),
    step(900, { channels: [uuidOf(2)], repeat: { every: 3600, times: 1 } }),
  ]
  const outcome = (integration: number) => (integration === 1 ? 'failed' : 'delivered')
  const scenario = new Scenario({ plan: { steps }, channels: [{}, {}], outcome })
  scenario.flip('down', 0).until(7000)
  t.deepEqual(scenario.sent, ['0:1:first', '1:2:first', '3600:1:repeat', '3601:2:repeat'])
  if (scenario.policy) scenario.policy = { ...scenario.policy, version: 2 }
  scenario.evaluate(null)
  t.is(scenario.messages.length, 4, 'a change of the policy repeats nothing')
})

test('a maintenance window delays an hourly repeat by its length', (t) => {
  const window = { reason: 'MAINTENANCE', since: START + 1800 * SECOND, until: START + 9000 * SECOND } as const
  const scenario = new Scenario({
    plan: { steps: [step(0, { repeat: { every: 3600, times: null } })] },
    suppressions: () => [window],
  })
  scenario.flip('down', 0).until(10_800)
  t.deepEqual(scenario.sent, ['0:1:first', '10800:1:repeat'])
})

test('a suppressed notification names the window or parent that delayed it', (t) => {
  for (const [reason, notified] of [
    ['MAINTENANCE', 'WINDOW_ENDED'],
    ['PARENT_DOWN', 'PARENT_UP'],
  ] as const) {
    const suppression = { reason, since: START, until: START + 300 * SECOND, detail: { name: 'Patch night' } }
    const scenario = new Scenario({ suppressions: () => [suppression] }).flip('down', 60).until(400)
    t.deepEqual(scenario.sent, ['300:1:first'])
    t.like(scenario.decisions.at(-1), { outcome: 'notified', reason: notified, detail: { name: 'Patch night' } })
  }
})

test('sends steps after their waits and repeats up to their limit', (t) => {
  const steps = [step(0, { repeat: { every: 600, times: 2 } }), step(900, { channels: [uuidOf(2)] })]
  const scenario = new Scenario({ plan: { steps }, channels: [{}, { isOwn: false }] })
  scenario.flip('down', 0).until(10_000)
  t.deepEqual(scenario.sent, ['0:1:first', '600:1:repeat', '900:2:first', '1200:1:repeat'])
  t.is(scenario.incident?.nextAt, null, 'no notification is due any more')
})

test('a late evaluation stops the clock of the plan', (t) => {
  const steps = [step(0), step(600, { channels: [uuidOf(2)] }), step(600, { channels: [uuidOf(3)] })]
  let late = 0
  const scenario = new Scenario({ plan: { steps }, channels: [{}, {}, {}], late: () => late * SECOND })
  scenario.flip('down', 0)
  late = 4000
  scenario.until(4600)
  late = 0
  scenario.until(10_000)
  t.deepEqual(scenario.sent.slice(3), ['4600:2:first', '5200:3:first'], 'step 2 waits for its own 600 s')
})

test('waits for the failures, time down and successes of the policy', (t) => {
  const scenario = new Scenario({ plan: { when: { ...when, failures: 2, down_for: 100 } } })
  scenario.results.push({ at: START - 60 * SECOND, ok: true })
  scenario.flip('down', 0).until(119)
  t.deepEqual(scenario.sent, [])
  t.like(scenario.decisions[0], { outcome: 'suppressed', reason: 'FAILURES', detail: { have: 1, need: 2 } })
  scenario.until(1000)
  t.deepEqual(scenario.sent, ['120:1:first'], 'the next success was expected at 60 s, with a grace of 60 s')
  const brief = new Scenario({ plan: { when: { ...when, failures: 2 } } })
  brief.flip('down', 0).flip('up', 100).until(1000)
  t.deepEqual(brief.sent, [])
  t.like(brief.decisions.at(-1), { outcome: 'none', reason: 'RECOVERED_FIRST' })
  const twice = new Scenario({ plan: { when: { ...when, successes: 2 } } })
  twice.flip('down', 0).flip('up', 60).until(100)
  t.deepEqual(twice.sent, ['0:1:first'])
  t.is(twice.decisions.at(-1)?.reason, 'RECOVERING')
  twice.results.push({ at: START + 105 * SECOND, ok: true })
  twice.until(200)
  t.deepEqual(twice.sent, ['0:1:first', '110:1:recovery'])
})

test('an acknowledgement stops repeats but not the recovery', (t) => {
  const steps = [step(0, { repeat: { every: 600, times: null } })]
  const scenario = new Scenario({ plan: { steps }, channels: [{}, {}] })
  scenario.flip('down', 0).until(10).ack().until(5000)
  t.is(scenario.messages.length, 2)
  t.is(scenario.decisions.at(-1)?.reason, 'ACKNOWLEDGED')
  scenario.flip('up', 6000)
  t.deepEqual(scenario.sent.slice(2), ['6000:1:recovery', '6000:2:recovery'])
})

test('the plan continues after an acknowledgement expires or is withdrawn', (t) => {
  const steps = [step(0, { repeat: { every: 600, times: null } })]
  const expired = new Scenario({ plan: { steps } })
  expired.flip('down', 0).until(100).ack(1100).until(1600)
  t.deepEqual(expired.sent, ['0:1:first', '1600:1:repeat'], '600 s without the acknowledged time')
  const early = new Scenario({ plan: { when: { ...when, down_for: 200 } } })
  early.flip('down', 0).until(100).ack(400).until(1000)
  t.deepEqual(early.sent, ['400:1:first'])
  t.is(early.messages[0]?.reason, 'ACK_EXPIRED')
  const withdrawn = new Scenario({ plan: { steps } })
  withdrawn.flip('down', 0).until(100).ack().until(400).unack().until(900)
  t.deepEqual(withdrawn.sent, ['0:1:first', '900:1:repeat'])
})

test('a step outside its hours is skipped or delayed', (t) => {
  const hours = [{ every: '0 11 * * *', for: 3600, tz: 'UTC' }]
  const skip = new Scenario({
    plan: { steps: [step(0, { hours, outside: 'skip' }), step(60, { channels: [uuidOf(2)] })] },
    channels: [{}, {}],
  })
  skip.flip('down', 0).until(7200)
  t.deepEqual(skip.sent, ['60:2:first'])
  t.like(skip.decisions[0], { outcome: 'skipped', reason: 'OUTSIDE_HOURS' })
  const wait = new Scenario({ plan: { steps: [step(0, { hours, repeat: { every: 600, times: 5 } })] } })
  wait.flip('down', 0).until(3600)
  t.deepEqual(wait.sent, ['3600:1:repeat'])
  t.like(wait.decisions[0], { outcome: 'suppressed', reason: 'OUTSIDE_HOURS', until: START + 3600 * SECOND })
})

test('skips low severity, disabled, ignoring and deleted integrations with a reason', (t) => {
  const steps = [step(0, { severity: 'critical' }), step(60)]
  const integrations = [{}, { isDisabled: true }, { ignores: { up: false, down: true } }]
  const scenario = new Scenario({ plan: { steps }, severity: 'warning', channels: integrations })
  scenario.flip('down', 0).until(60)
  t.like(scenario.decisions[0], { outcome: 'skipped', reason: 'BELOW_SEVERITY' })
  t.deepEqual(
    scenario.decisions[1]?.channels.map(({ outcome, reason }) => `${outcome} ${reason}`),
    ['notified STEP', 'skipped INTEGRATION_DISABLED', 'skipped INTEGRATION_IGNORES'],
  )
  const deleted = new Scenario({ plan: { steps: [step(0, { channels: [uuidOf(9), uuidOf(1)] })] } }).flip('down', 0)
  const texts = deleted.decisions[0]?.channels.map(({ outcome, reason }) => `${outcome} ${reason}`)
  t.deepEqual(texts?.toSorted(), ['notified FIRST', 'skipped INTEGRATION_GONE'])
})

test('an acknowledged incident that flaps ends with one recovery', (t) => {
  const scenario = new Scenario({ plan: { flapping: { changes: 3, within: 300 } } })
  scenario.flip('down', 0).flip('up', 10).flip('down', 20).until(25).ack()
  scenario.flip('up', 30).flip('down', 40).until(170)
  t.like(scenario.incident, { state: 'acknowledged', flapping: false }, 'the check was down for a third of 300 s')
  scenario.flip('up', 180).flip('down', 190).flip('up', 200).until(299)
  t.like(scenario.incident, { state: 'acknowledged', flapping: true })
  t.deepEqual(scenario.until(400).sent, ['0:1:first', '10:1:recovery', '20:1:flapping', '300:1:recovery'])
  const slow = new Scenario({ plan: { when: { ...when, successes: 2 } } })
    .flip('down', 0)
    .ack()
    .flip('up', 60)
    .until(100)
  slow.results.push({ at: START + 105 * SECOND, ok: true })
  t.deepEqual(slow.until(200).sent, ['0:1:first', '110:1:recovery'], 'the second success ends it')
})

test('stores a decision for every flip of an incident', (t) => {
  const scenario = new Scenario({ plan: { when: { ...when, successes: 3 } } })
  scenario.flip('down', 0).flip('up', 60).flip('down', 65)
  t.deepEqual(
    scenario.decisions.map(({ reason }) => reason),
    ['FIRST', 'RECOVERING', 'JOINED'],
  )
})

test('an integration without a down notification gets no recovery', (t) => {
  const steps = [step(0, { channels: [uuidOf(1)] })]
  const scenario = new Scenario({ plan: { steps }, channels: [{}, {}] }).flip('down', 0).flip('up', 60)
  t.deepEqual(scenario.sent, ['0:1:first', '60:1:recovery'])
  t.like(scenario.decisions.at(-1)?.channels, [
    { id: uuidOf(1), outcome: 'notified', reason: 'RECOVERY' },
    { id: uuidOf(2), outcome: 'skipped', reason: 'NOT_NOTIFIED_BEFORE' },
  ])
})

test('flapping sends one message and then waits for a stable status', (t) => {
  const scenario = new Scenario({ plan: { flapping: { changes: 4, within: 900 } } })
  scenario.flip('down', 0).flip('up', 60).flip('down', 120).flip('up', 180).flip('down', 240).flip('up', 300)
  t.deepEqual(scenario.sent, ['0:1:first', '60:1:recovery', '120:1:first', '180:1:flapping'])
  scenario.until(599)
  t.is(scenario.messages.length, 4)
  scenario.until(600)
  t.deepEqual(scenario.sent.slice(4), ['600:1:recovery'], 'the status was stable for a third of 900 s')
  const down = new Scenario({
    plan: { flapping: { changes: 3, within: 900 }, steps: [step(0, { repeat: { every: 600, times: null } })] },
  })
  down.flip('down', 0).flip('up', 60).flip('down', 120).until(1100)
  t.deepEqual(
    down.sent,
    ['0:1:first', '60:1:recovery', '120:1:flapping', '1020:1:repeat'],
    'a check that stays down continues with the plan',
  )
})

test('suppressions, hours and severity apply to the flapping message', (t) => {
  const flapping = { changes: 3, within: 900 }
  const down = (options: ConstructorParameters<typeof Scenario>[0]) =>
    new Scenario(options).flip('down', 0).flip('up', 60).flip('down', 120)
  for (const reason of ['MAINTENANCE', 'PARENT_DOWN'] as const) {
    const suppression = { reason, since: START, until: START + 600 * SECOND, detail: { name: 'Patch night' } }
    const suppressed = down({ plan: { flapping }, suppressions: () => [suppression] })
    t.deepEqual(suppressed.sent, [])
    t.like(suppressed.decisions.at(-1), { outcome: 'suppressed', reason, detail: { name: 'Patch night' } })
    suppressed.until(5000)
    t.deepEqual(suppressed.sent, ['600:1:first'], 'sent when the suppression ends')
  }
  const hours = [{ every: '0 11 * * *', for: 3600, tz: 'UTC' }]
  const quiet = down({ plan: { flapping, steps: [step(0, { hours })] } }).until(7000)
  t.deepEqual(quiet.sent, ['3600:1:first'])
  t.like(quiet.decisions.find(({ reason }) => reason === 'SETTLING')?.channels, [{ reason: 'OUTSIDE_HOURS' }])
  const mild = down({ plan: { flapping, steps: [step(0, { severity: 'critical' })] }, severity: 'warning' }).until(7000)
  t.deepEqual(mild.sent, [])
})

test('a changed policy does not repeat steps that were due before', (t) => {
  const scenario = new Scenario({ plan: { steps: [step(0)] }, channels: [{}, {}] })
  scenario.flip('down', 0).until(1000)
  if (scenario.policy)
    scenario.policy = {
      ...scenario.policy,
      version: 2,
      plan: { ...scenario.policy.plan, steps: [step(0), step(500), step(1000)] },
    }
  scenario.evaluate(null)
  scenario.until(5000)
  t.deepEqual(scenario.sent, ['0:1:first', '0:2:first', '1500:1:first', '1500:2:first'])
})

test('a pause notifies only integrations that keep a record', (t) => {
  const scenario = new Scenario({ channels: [{}, { keepsRecord: true }] })
  scenario.flip('down', 0).until(100)
  scenario.status = 'paused'
  scenario.evaluate(null)
  t.deepEqual(scenario.sent, ['0:1:first', '0:2:first', '100:2:recovery'])
  t.like(scenario.incidents[0], { state: 'resolved', resolution: 'paused' })
})

test('a suppression delays the whole incident and is evaluated again within 10 minutes', (t) => {
  let suppressions = [
    { reason: 'PARENT_LATE', since: START, until: null },
    { reason: 'PARENT_DOWN', since: START, until: null, detail: { name: 'router' } },
    { reason: 'COVERAGE_GAP', since: START, until: null },
  ] as const
  const scenario = new Scenario({ suppressions: () => suppressions })
  scenario.flip('down', 1).until(1000)
  t.deepEqual(scenario.sent, [])
  t.like(scenario.decisions, [{ outcome: 'suppressed', reason: 'PARENT_DOWN', detail: { name: 'router' } }])
  t.is(scenario.decisions.length, 1, 'a suppression is stored once')
  t.true((scenario.incident?.nextAt ?? 0) <= scenario.now + 600 * SECOND)
  suppressions = [] as unknown as typeof suppressions
  scenario.until(1300)
  t.is(scenario.messages.map(({ reason }) => reason).join(), 'PARENT_UP')
  const outage = new Scenario({ suppressions: () => [{ reason: 'COVERAGE_GAP', since: START, until: null }] })
  t.deepEqual(outage.flip('down', 5).sent, ['5:1:first'], 'a gap never delays the first message')
})
