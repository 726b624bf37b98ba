import test from 'ava'
import { quorumText } from '#shared/monitoring/rules/quorum.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { at, ruleScenario } from './run-scenario.ts'

const settings = { timeoutSeconds: 3600, graceSeconds: 600 }
const three = { by: 'query', expect: ['web1', 'web2', 'web3'], need: 2 } as const

test('a quorum of 2 of 3 breaks at the second missed deadline', (t) => {
  const scenario = ruleScenario(settings, { sources: three })
  for (const [name, clock] of [
    ['web2', '12:00'],
    ['web3', '12:05'],
    ['web1', '12:06'],
    ['web1', '13:00'],
  ] as const)
    scenario.ping('success', at(clock), null, name)
  t.is(scenario.check.alertAfter, at('13:15'))
  scenario.ping('success', at('13:14'), null, 'web1')
  scenario.sweep(at('13:16'))
  t.like(scenario.flips.at(-1), { to: 'down', reason: 'timeout', at: at('13:15') })
  t.is(
    quorumText(scenario.check, scenario.facts.sources ?? t.fail(), at('13:16'), nextOccurrence),
    '1 of 3 sources reports, 2 are needed. Silent: web2 (since 12:00), web3 (since 12:05).',
  )
  scenario.ping('success', at('13:20'), null, 'web1')
  t.is(scenario.check.status, 'down')
  scenario.ping('success', at('13:21'), null, 'web3')
  t.is(scenario.check.status, 'up')
})

test('a failing source brings the check down until the quorum reports again', (t) => {
  const scenario = ruleScenario(settings, { sources: three })
  for (const name of three.expect) scenario.ping('success', at('12:00'), null, name)
  scenario.ping('fail', at('12:01'), null, 'web1')
  t.like(scenario.flips.at(-1), { to: 'down', reason: 'fail', at: at('12:01') })
  scenario.ping('success', at('12:02'), null, 'web2')
  t.is(scenario.check.status, 'up')
})

test('an expected source that never reports becomes stale after period and grace', (t) => {
  const scenario = ruleScenario({ ...settings, status: 'new', lastPing: null }, { sources: { ...three, need: 'all' } })
  scenario.ping('success', at('12:00'), null, 'web1')
  scenario.ping('success', at('12:30'), null, 'web2')
  t.is(scenario.check.status, 'up')
  t.is(scenario.check.alertAfter, at('13:10'))
  scenario.ping('success', at('12:50'), null, 'web1')
  scenario.sweep(at('13:11'))
  t.is(
    quorumText(scenario.check, scenario.facts.sources ?? t.fail(), at('13:11'), nextOccurrence),
    '2 of 3 sources report, 3 are needed. Silent: web3 (never).',
  )
})

test('the expected number limits the names of sources', (t) => {
  const scenario = ruleScenario(settings, { sources: { by: 'query', expect: 2, need: 'all' } })
  for (const name of ['a', '', 'b', 'c']) scenario.ping('success', at('12:00'), null, name)
  t.deepEqual(
    scenario.facts.sources?.sources.map(({ name }) => name),
    ['a', 'b'],
  )
  scenario.ping('success', at('12:30'), null, 'c')
  t.is(scenario.check.alertAfter, at('13:10'))
})

test('a source that is not counted does not change the status', (t) => {
  for (const expect of [2, ['a', 'b']]) {
    const scenario = ruleScenario(settings, { sources: { by: 'query', expect, need: 1 } })
    for (const name of ['a', 'b']) scenario.ping('success', at('12:00'), null, name)
    t.is(scenario.ping('fail', at('12:01'), null, 'c').flip, null)
    t.is(scenario.check.status, 'up')
    t.is(scenario.check.alertAfter, at('13:10'))
    t.like(scenario.ping('start', at('12:01'), null, 'c'), { type: 'start', uncounted: true })
    t.is(scenario.check.lastStart, null, 'its run cannot overrun')
    scenario.ping('fail', at('12:02'), null, 'a')
    t.is(scenario.check.status, 'down')
    scenario.ping('success', at('12:03'), null, 'c')
    t.is(scenario.check.status, 'down')
    scenario.ping('success', at('12:04'), null, 'b')
    t.is(scenario.check.status, 'up')
    scenario.ping('fail', at('12:05'))
    t.is(scenario.check.status, 'down', 'a failure without a name is a failure of the check')
  }
})
