import test from 'ava'
import { evaluateAbsence } from '#shared/monitoring/availability/evaluate-absence.ts'
import { ALL_SHARDS, type Gap } from '#shared/monitoring/availability/unavailable.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { A, at, B, ruleScenario } from './run-scenario.ts'

const gap = (from: string, until: string): Gap => ({
  listener: 'http',
  shards: ALL_SHARDS,
  from: at(from),
  until: at(until),
  kind: 'full',
  cause: 'process lost',
})

function evaluated({ check, facts }: ReturnType<typeof ruleScenario>, gaps: readonly Gap[]) {
  const evidence = { listener: 'http', shard: 1n, gaps, refusals: [], ruleState: facts } as const
  return evaluateAbsence(check, check.alertAfter ?? 0, evidence, nextOccurrence)
}

test('a run whose finish was due in a gap ends as unknown', (t) => {
  const scenario = ruleScenario({}, { run: { watch: 'each', max: 3600 } })
  scenario.ping('start', at('02:40'), A)
  scenario.ping('start', at('02:55'), B)
  const evaluation = evaluated(scenario, [gap('03:00', '03:45')])
  t.like(evaluation, { kind: 'deadline_extended', isRun: true, at: at('03:45'), alertAfter: at('03:55') })
  t.like(scenario.runs()[0], { outcome: 'unknown', flags: ['UNKNOWN'] })
  t.is(scenario.runs()[1]?.outcome, 'open')
})

test('a run without a gap before its deadline brings the check down', (t) => {
  const scenario = ruleScenario({}, { run: { watch: 'each', max: 3600 } })
  scenario.ping('start', at('02:40'), A)
  t.deepEqual(evaluated(scenario, [gap('01:00', '02:30')]), { kind: 'down' })
})

test('a gap extends the deadline only of sources expected in it', (t) => {
  const scenario = ruleScenario(
    { timeoutSeconds: 3600, graceSeconds: 600 },
    { sources: { by: 'query', expect: ['web1', 'web2'], need: 'all' } },
  )
  scenario.ping('success', at('10:00'), null, 'web1')
  scenario.ping('success', at('10:50'), null, 'web2')
  t.is(scenario.check.alertAfter, at('11:10'))
  const evaluation = evaluated(scenario, [gap('10:50', '11:15')])
  t.like(evaluation, { kind: 'deadline_extended', at: at('11:15'), alertAfter: at('12:00') })
  t.deepEqual(
    scenario.facts.sources?.sources.map(({ name, deadlineExtendedAt }) => [name, deadlineExtendedAt]),
    [
      ['web1', at('11:15')],
      ['web2', null],
    ],
  )
})
