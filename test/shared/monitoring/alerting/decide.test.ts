import test from 'ava'
import type { Step } from '#shared/monitoring/alerting/policy.ts'
import { Scenario, SECOND, START, uuidOf } from '../alert-scenario.ts'

const step = (wait: number, rest: Partial<Step> = {}): Step => ({
  wait,
  channels: null,
  severity: 'info',
  repeat: null,
  hours: [],
  outside: 'wait',
  ...rest,
})
const when = { failures: 1, of: null, down_for: 0, successes: 1 }

test('without a policy every change is told to every integration, and the incident is only a record', (t) => {
  const channels = [{}, { ignores: { up: true, down: false } }, { isDisabled: true }]
  const story = new Scenario({ plan: null, channels })
  story.flip('down', 0).flip('up', 600)
  t.deepEqual(story.said, ['0:1:down', '0:2:down', '600:1:up'])
  t.like(story.incidents[0], { state: 'resolved', resolution: 'recovered', isDirect: true, nextAt: null, flips: 2 })
  t.deepEqual(
    story.decisions.map(({ outcome, reason }) => `${outcome} ${reason}`),
    ['notified DIRECT', 'notified DIRECT'],
  )
})

test('Given steps at 0 and 900 s and a check down that comes up at 899 s, then only step 1 is told down and up', (t) => {
  const steps = [step(0, { channels: [uuidOf(1)] }), step(900, { channels: [uuidOf(2)] })]
  const story = new Scenario({ plan: { steps }, channels: [{}, {}] })
  story.flip('down', 0).flip('up', 899).until(5000)
  t.deepEqual(story.said, ['0:1:first', '899:1:recovery'])
})

test('Given a used-up SMS limit in step 1, then step 2 speaks at once', (t) => {
  const steps = [
    step(0, { channels: [uuidOf(1)] }),
    step(900, { channels: [uuidOf(2)] }),
    step(600, { channels: [uuidOf(3)] }),
  ]
  const story = new Scenario({
    plan: { steps },
    channels: [{}, {}, {}],
    outcome: (channel) => (channel === 1 ? 'suppressed' : 'delivered'),
  })
  story.flip('down', 0).until(5000)
  t.deepEqual(story.said, ['0:1:first', '1:2:first', '601:3:first'])
  t.is(story.messages[1]?.reason, 'FIRST_STEP_FAILED')
  story.flip('up', 6000)
  t.deepEqual(story.said.slice(3), ['6000:2:recovery', '6000:3:recovery'], 'what was never attempted owes nothing')
})

test('a skipped wait brings on the steps after it, and no repeat of the step that reached nobody', (t) => {
  const steps = [
    step(0, { channels: [uuidOf(1)], repeat: { every: 3600, times: null } }),
    step(900, { channels: [uuidOf(2)], repeat: { every: 3600, times: 1 } }),
  ]
  const outcome = (channel: number) => (channel === 1 ? 'failed' : 'delivered')
  const story = new Scenario({ plan: { steps }, channels: [{}, {}], outcome })
  story.flip('down', 0).until(7000)
  t.deepEqual(story.said, ['0:1:first', '1:2:first', '3600:1:repeat', '3601:2:repeat'])
  if (story.policy) story.policy = { ...story.policy, version: 2 }
  story.look(null)
  t.is(story.messages.length, 4, 'a change of the policy repeats nothing of it')
})

test('Given a window 02:00-04:00 and an hourly repeat on a check down since 01:30, then it is told at 01:30 and 04:30', (t) => {
  const window = { reason: 'MAINTENANCE', since: START + 1800 * SECOND, until: START + 9000 * SECOND } as const
  const story = new Scenario({
    plan: { steps: [step(0, { repeat: { every: 3600, times: null } })] },
    gates: () => [window],
  })
  story.flip('down', 0).until(10_800)
  t.deepEqual(story.said, ['0:1:first', '10800:1:repeat'])
})

test('a message that was held names the window it went down in, or the check that came back', (t) => {
  for (const [reason, notified] of [
    ['MAINTENANCE', 'WINDOW_ENDED'],
    ['PARENT_DOWN', 'PARENT_UP'],
  ] as const) {
    const gate = { reason, since: START, until: START + 300 * SECOND, detail: { name: 'Patch night' } }
    const story = new Scenario({ gates: () => [gate] }).flip('down', 60).until(400)
    t.deepEqual(story.said, ['300:1:first'])
    t.like(story.decisions.at(-1), { outcome: 'notified', reason: notified, detail: { name: 'Patch night' } })
  }
})

test('steps speak at the sums of their waits, repeats as often as they may, and missed ones are one', (t) => {
  const steps = [step(0, { repeat: { every: 600, times: 2 } }), step(900, { channels: [uuidOf(2)] })]
  const story = new Scenario({ plan: { steps }, channels: [{}, { isOwn: false }] })
  story.flip('down', 0).until(10_000)
  t.deepEqual(story.said, ['0:1:first', '600:1:repeat', '900:2:first', '1200:1:repeat'])
  t.is(story.incident?.nextAt, null, 'nothing is to come')
})

test('an outage of ours of more than 60 s escalates nothing: the plan goes on where it stood', (t) => {
  const steps = [step(0), step(600, { channels: [uuidOf(2)] }), step(600, { channels: [uuidOf(3)] })]
  let late = 0
  const story = new Scenario({ plan: { steps }, channels: [{}, {}, {}], late: () => late * SECOND })
  story.flip('down', 0)
  late = 4000
  story.until(4600)
  late = 0
  story.until(10_000)
  t.deepEqual(story.said.slice(3), ['4600:2:first', '5200:3:first'], 'step 2 waits for its own 600 s')
})

test('conditions: failures in a row, a time down, and successes before it is over', (t) => {
  const story = new Scenario({ plan: { when: { ...when, failures: 2, down_for: 100 } } })
  story.finishes.push({ at: START - 60 * SECOND, ok: true })
  story.flip('down', 0).until(119)
  t.deepEqual(story.said, [])
  t.like(story.decisions[0], { outcome: 'suppressed', reason: 'FAILURES', detail: { have: 1, need: 2 } })
  story.until(1000)
  t.deepEqual(story.said, ['120:1:first'], 'the next success was expected at 60 s, with a grace of 60 s')
  const brief = new Scenario({ plan: { when: { ...when, failures: 2 } } })
  brief.flip('down', 0).flip('up', 100).until(1000)
  t.deepEqual(brief.said, [])
  t.like(brief.decisions.at(-1), { outcome: 'none', reason: 'RECOVERED_FIRST' })
  const twice = new Scenario({ plan: { when: { ...when, successes: 2 } } })
  twice.flip('down', 0).flip('up', 60).until(100)
  t.deepEqual(twice.said, ['0:1:first'])
  t.is(twice.decisions.at(-1)?.reason, 'RECOVERING')
  twice.finishes.push({ at: START + 105 * SECOND, ok: true })
  twice.until(200)
  t.deepEqual(twice.said, ['0:1:first', '110:1:recovery'])
})

test('an acknowledgement ends all messages but the recovery, for everybody who was told', (t) => {
  const steps = [step(0, { repeat: { every: 600, times: null } })]
  const story = new Scenario({ plan: { steps }, channels: [{}, {}] })
  story.flip('down', 0).until(10).ack().until(5000)
  t.is(story.messages.length, 2)
  t.is(story.decisions.at(-1)?.reason, 'ACKNOWLEDGED')
  story.flip('up', 6000)
  t.deepEqual(story.said.slice(2), ['6000:1:recovery', '6000:2:recovery'])
})

test('an acknowledgement that ends lets the plan go on where it stood', (t) => {
  const steps = [step(0, { repeat: { every: 600, times: null } })]
  const expired = new Scenario({ plan: { steps } })
  expired.flip('down', 0).until(100).ack(1100).until(1600)
  t.deepEqual(expired.said, ['0:1:first', '1600:1:repeat'], '100 s before it, 500 s after it')
  const early = new Scenario({ plan: { when: { ...when, down_for: 200 } } })
  early.flip('down', 0).until(100).ack(400).until(1000)
  t.deepEqual(early.said, ['400:1:first'])
  t.is(early.messages[0]?.reason, 'ACK_EXPIRED')
  const withdrawn = new Scenario({ plan: { steps } })
  withdrawn.flip('down', 0).until(100).ack().until(400).unack().until(900)
  t.deepEqual(withdrawn.said, ['0:1:first', '900:1:repeat'])
})

test('hours: outside of them a step is skipped, or held until they begin and then said once', (t) => {
  const hours = [{ every: '0 11 * * *', for: 3600, tz: 'UTC' }]
  const skip = new Scenario({
    plan: { steps: [step(0, { hours, outside: 'skip' }), step(60, { channels: [uuidOf(2)] })] },
    channels: [{}, {}],
  })
  skip.flip('down', 0).until(7200)
  t.deepEqual(skip.said, ['60:2:first'])
  t.like(skip.decisions[0], { outcome: 'skipped', reason: 'OUTSIDE_HOURS' })
  const hold = new Scenario({ plan: { steps: [step(0, { hours, repeat: { every: 600, times: 5 } })] } })
  hold.flip('down', 0).until(3600)
  t.deepEqual(hold.said, ['3600:1:repeat'])
  t.like(hold.decisions[0], { outcome: 'suppressed', reason: 'OUTSIDE_HOURS', until: START + 3600 * SECOND })
})

test('severity, disabled integrations and those that ignore the change are skipped, with the reason', (t) => {
  const steps = [step(0, { severity: 'critical' }), step(60)]
  const channels = [{}, { isDisabled: true }, { ignores: { up: false, down: true } }]
  const story = new Scenario({ plan: { steps }, severity: 'warning', channels })
  story.flip('down', 0).until(60)
  t.like(story.decisions[0], { outcome: 'skipped', reason: 'BELOW_SEVERITY' })
  t.deepEqual(
    story.decisions[1]?.channels.map(({ outcome, reason }) => `${outcome} ${reason}`),
    ['notified STEP', 'skipped INTEGRATION_DISABLED', 'skipped INTEGRATION_IGNORES'],
  )
  const gone = new Scenario({ plan: { steps: [step(0, { channels: [uuidOf(9), uuidOf(1)] })] } }).flip('down', 0)
  const texts = gone.decisions[0]?.channels.map(({ outcome, reason }) => `${outcome} ${reason}`)
  t.deepEqual(texts?.toSorted(), ['notified FIRST', 'skipped INTEGRATION_GONE'])
})

test('an acknowledged incident that flaps ends with one recovery when the check has settled', (t) => {
  const story = new Scenario({ plan: { flapping: { changes: 3, within: 300 } } })
  story.flip('down', 0).flip('up', 10).flip('down', 20).until(25).ack()
  story.flip('up', 30).flip('down', 40).until(170)
  t.like(story.incident, { state: 'acknowledged', flapping: false }, 'down for a third of 300 s')
  story.flip('up', 180).flip('down', 190).flip('up', 200).until(299)
  t.like(story.incident, { state: 'acknowledged', flapping: true })
  t.deepEqual(story.until(400).said, ['0:1:first', '10:1:recovery', '20:1:flapping', '300:1:recovery'])
  const slow = new Scenario({ plan: { when: { ...when, successes: 2 } } })
    .flip('down', 0)
    .ack()
    .flip('up', 60)
    .until(100)
  slow.finishes.push({ at: START + 105 * SECOND, ok: true })
  t.deepEqual(slow.until(200).said, ['0:1:first', '110:1:recovery'], 'the second success ends it')
})

test('every flip of an incident has a decision, also one for which no step is due', (t) => {
  const story = new Scenario({ plan: { when: { ...when, successes: 3 } } })
  story.flip('down', 0).flip('up', 60).flip('down', 65)
  t.deepEqual(
    story.decisions.map(({ reason }) => reason),
    ['FIRST', 'RECOVERING', 'JOINED'],
  )
})

test('an integration without a down notification gets no recovery, with the reason', (t) => {
  const steps = [step(0, { channels: [uuidOf(1)] })]
  const story = new Scenario({ plan: { steps }, channels: [{}, {}] }).flip('down', 0).flip('up', 60)
  t.deepEqual(story.said, ['0:1:first', '60:1:recovery'])
  t.like(story.decisions.at(-1)?.channels, [
    { id: uuidOf(1), outcome: 'notified', reason: 'RECOVERY' },
    { id: uuidOf(2), outcome: 'skipped', reason: 'NOT_NOTIFIED_BEFORE' },
  ])
})

test('flapping: one message in place of the change that is too much, then silence until one state has lasted', (t) => {
  const story = new Scenario({ plan: { flapping: { changes: 4, within: 900 } } })
  story.flip('down', 0).flip('up', 60).flip('down', 120).flip('up', 180).flip('down', 240).flip('up', 300)
  t.deepEqual(story.said, ['0:1:first', '60:1:recovery', '120:1:first', '180:1:flapping'])
  story.until(599)
  t.is(story.messages.length, 4)
  story.until(600)
  t.deepEqual(story.said.slice(4), ['600:1:recovery'], 'a third of 900 s after the last change')
  const down = new Scenario({
    plan: { flapping: { changes: 3, within: 900 }, steps: [step(0, { repeat: { every: 600, times: null } })] },
  })
  down.flip('down', 0).flip('up', 60).flip('down', 120).until(1100)
  t.deepEqual(
    down.said,
    ['0:1:first', '60:1:recovery', '120:1:flapping', '1020:1:repeat'],
    'down goes on with the plan',
  )
})

test('flapping: what holds a message holds this one too, and then the plan still begins with its first', (t) => {
  const flapping = { changes: 3, within: 900 }
  const down = (options: ConstructorParameters<typeof Scenario>[0]) =>
    new Scenario(options).flip('down', 0).flip('up', 60).flip('down', 120)
  for (const reason of ['MAINTENANCE', 'PARENT_DOWN'] as const) {
    const gate = { reason, since: START, until: START + 600 * SECOND, detail: { name: 'Patch night' } }
    const suppression = down({ plan: { flapping }, gates: () => [gate] })
    t.deepEqual(suppression.said, [])
    t.like(suppression.decisions.at(-1), { outcome: 'suppressed', reason, detail: { name: 'Patch night' } })
    suppression.until(5000)
    t.deepEqual(suppression.said, ['600:1:first'], 'told once it ends')
  }
  const hours = [{ every: '0 11 * * *', for: 3600, tz: 'UTC' }]
  const quiet = down({ plan: { flapping, steps: [step(0, { hours })] } }).until(7000)
  t.deepEqual(quiet.said, ['3600:1:first'])
  t.like(quiet.decisions.find(({ reason }) => reason === 'SETTLING')?.channels, [{ reason: 'OUTSIDE_HOURS' }])
  const mild = down({ plan: { flapping, steps: [step(0, { severity: 'critical' })] }, severity: 'warning' }).until(7000)
  t.deepEqual(mild.said, [])
})

test('a policy that changes is spoken from now: all that lies before counts as told', (t) => {
  const story = new Scenario({ plan: { steps: [step(0)] }, channels: [{}, {}] })
  story.flip('down', 0).until(1000)
  if (story.policy)
    story.policy = {
      ...story.policy,
      version: 2,
      plan: { ...story.policy.plan, steps: [step(0), step(500), step(1000)] },
    }
  story.look(null)
  story.until(5000)
  t.deepEqual(story.said, ['0:1:first', '0:2:first', '1500:1:first', '1500:2:first'])
})

test('a check that is paused ends its incident: only what keeps a record is told', (t) => {
  const story = new Scenario({ channels: [{}, { keepsRecord: true }] })
  story.flip('down', 0).until(100)
  story.status = 'paused'
  story.look(null)
  t.deepEqual(story.said, ['0:1:first', '0:2:first', '100:2:recovery'])
  t.like(story.incidents[0], { state: 'resolved', resolution: 'paused' })
})

test('gates hold the whole incident, the first in the published order, and never for ever', (t) => {
  let gates = [
    { reason: 'PARENT_LATE', since: START, until: null },
    { reason: 'PARENT_DOWN', since: START, until: null, detail: { name: 'router' } },
    { reason: 'COVERAGE_GAP', since: START, until: null },
  ] as const
  const story = new Scenario({ gates: () => gates })
  story.flip('down', 1).until(1000)
  t.deepEqual(story.said, [])
  t.like(story.decisions, [{ outcome: 'suppressed', reason: 'PARENT_DOWN', detail: { name: 'router' } }])
  t.is(story.decisions.length, 1, 'a hold is said once')
  t.true((story.incident?.nextAt ?? 0) <= story.now + 600 * SECOND)
  gates = [] as unknown as typeof gates
  story.until(1300)
  t.is(story.messages.map(({ reason }) => reason).join(), 'PARENT_UP')
  const blind = new Scenario({ gates: () => [{ reason: 'COVERAGE_GAP', since: START, until: null }] })
  t.deepEqual(blind.flip('down', 5).said, ['5:1:first'], 'blindness never holds the first message')
})
