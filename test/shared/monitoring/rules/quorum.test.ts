import test from 'ava'
import { quorumText } from '#shared/monitoring/rules/quorum.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { at, ruleScenario } from './run-scenario.ts'

const settings = { timeoutSeconds: 3600, graceSeconds: 600 }
const three = { by: 'query', expect: ['web1', 'web2', 'web3'], need: 2 } as const

test('of 2 of 3 needed two fall silent: the check goes down at the deadline of the second', (t) => {
  const story = ruleScenario(settings, { sources: three })
  for (const [name, clock] of [
    ['web2', '12:00'],
    ['web3', '12:05'],
    ['web1', '12:06'],
    ['web1', '13:00'],
  ] as const)
    story.ping('success', at(clock), null, name)
  t.is(story.check.alertAfter, at('13:15'))
  story.ping('success', at('13:14'), null, 'web1')
  story.sweep(at('13:16'))
  t.like(story.flips.at(-1), { to: 'down', reason: 'timeout', at: at('13:15') })
  t.is(
    quorumText(story.check, story.facts.sources ?? t.fail(), at('13:16'), nextOccurrence),
    '1 of 3 sources reports, 2 are needed. Silent: web2 (since 12:00), web3 (since 12:05).',
  )
  story.ping('success', at('13:20'), null, 'web1')
  t.is(story.check.status, 'down')
  story.ping('success', at('13:21'), null, 'web3')
  t.is(story.check.status, 'up')
})

test('a source that fails takes the check down at once, and enough others bring it up', (t) => {
  const story = ruleScenario(settings, { sources: three })
  for (const name of three.expect) story.ping('success', at('12:00'), null, name)
  story.ping('fail', at('12:01'), null, 'web1')
  t.like(story.flips.at(-1), { to: 'down', reason: 'fail', at: at('12:01') })
  story.ping('success', at('12:02'), null, 'web2')
  t.is(story.check.status, 'up')
})

test('a name that is expected and never heard is stale one period and grace after the first ping', (t) => {
  const story = ruleScenario({ ...settings, status: 'new', lastPing: null }, { sources: { ...three, need: 'all' } })
  story.ping('success', at('12:00'), null, 'web1')
  story.ping('success', at('12:30'), null, 'web2')
  t.is(story.check.status, 'up')
  t.is(story.check.alertAfter, at('13:10'))
  story.ping('success', at('12:50'), null, 'web1')
  story.sweep(at('13:11'))
  t.is(
    quorumText(story.check, story.facts.sources ?? t.fail(), at('13:11'), nextOccurrence),
    '2 of 3 sources report, 3 are needed. Silent: web3 (never).',
  )
})

test('with a number unknown names join up to it; later ones and no names are not counted', (t) => {
  const story = ruleScenario(settings, { sources: { by: 'query', expect: 2, need: 'all' } })
  for (const name of ['a', '', 'b', 'c']) story.ping('success', at('12:00'), null, name)
  t.deepEqual(
    story.facts.sources?.sources.map(({ name }) => name),
    ['a', 'b'],
  )
  story.ping('success', at('12:30'), null, 'c')
  t.is(story.check.alertAfter, at('13:10'))
})

test('a source that is not counted takes a check neither down nor up', (t) => {
  for (const expect of [2, ['a', 'b']]) {
    const story = ruleScenario(settings, { sources: { by: 'query', expect, need: 1 } })
    for (const name of ['a', 'b']) story.ping('success', at('12:00'), null, name)
    t.is(story.ping('fail', at('12:01'), null, 'c').flip, null)
    t.is(story.check.status, 'up')
    t.is(story.check.alertAfter, at('13:10'))
    t.like(story.ping('start', at('12:01'), null, 'c'), { type: 'start', uncounted: true })
    t.is(story.check.lastStart, null, 'its run cannot overrun')
    story.ping('fail', at('12:02'), null, 'a')
    t.is(story.check.status, 'down')
    story.ping('success', at('12:03'), null, 'c')
    t.is(story.check.status, 'down')
    story.ping('success', at('12:04'), null, 'b')
    t.is(story.check.status, 'up')
    story.ping('fail', at('12:05'))
    t.is(story.check.status, 'down', 'a failure without a name is a failure of the check')
  }
})
