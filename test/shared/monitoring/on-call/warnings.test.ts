import test from 'ava'
import { IMPLICIT_PLAN, type Step } from '#shared/monitoring/alerting/policy.ts'
import { changesOf } from '#shared/monitoring/on-call/changes.ts'
import { shifts } from '#shared/monitoring/on-call/on-call.ts'
import type { Layer } from '#shared/monitoring/on-call/schedule.ts'
import { warningsOf as allWarningsOf, type CoverageFacts, planWarnings } from '#shared/monitoring/on-call/warnings.ts'
import { microsOfDate } from '#shared/time.ts'

const at = (text: string) => microsOfDate(new Date(text))
const NOW = at('2026-06-01T00:00:00Z')

function aLayer(fields: Partial<Layer>): Layer {
  const rotation = { unit: 'week', every: 1, on: null } as const
  return { name: '', people: ['anna'], start: '2026-06-01T00:00', end: null, rotation, hours: [], ...fields }
}

function aCoverage(layers: Layer[], fields: Partial<CoverageFacts['schedule']> = {}): CoverageFacts {
  const schedule = { tz: 'UTC', holidays: [], layers, fallback: null, coverage: 'always' as const, ...fields }
  return { schedule, overrides: [], members: new Set(['anna', 'ben', 'zoe']) }
}

const USED = { isUsed: true, steps: [], unreachable: new Set<string>(), lastAfter: new Map<string, number>() }
const warningsOf = (facts: CoverageFacts, now: number, unreachable: readonly string[] = []) =>
  allWarningsOf(facts, now, { ...USED, unreachable: new Set(unreachable) })

const workdays = { days: ['mon', 'tue', 'wed', 'thu', 'fri'] as const, from: '09:00', to: '17:00' }

test('warns about layers without people, hidden layers and former members', (t) => {
  const layers = [
    aLayer({ people: [] }),
    aLayer({}),
    aLayer({ people: ['ben'] }),
    aLayer({ people: ['lars'] }),
    aLayer({ people: ['ben'], start: '2026-01-01T00:00', end: '2026-05-01T00:00' }),
  ]
  t.deepEqual(warningsOf(aCoverage(layers), NOW), [
    { code: 'NOT_MEMBER', person: 'lars' },
    { code: 'EMPTY_LAYER', layer: 1 },
    { code: 'HIDDEN_LAYER', layer: 3 },
    { code: 'HIDDEN_LAYER', layer: 4 },
  ])
})

test('warns about late rules and about a schedule without a policy', (t) => {
  const facts = aCoverage([aLayer({ people: ['anna', 'ben'] })])
  const steps = [{ policy: 'Duty', step: 1, wait: 300 }]
  const lastAfter = new Map([
    ['anna', 301],
    ['ben', 300],
    ['zoe', 900],
  ])
  t.deepEqual(allWarningsOf(facts, NOW, { ...USED, isUsed: false, steps, lastAfter }), [
    { code: 'SLOW_RULES', person: 'anna', step: 1, policy: 'Duty' },
    { code: 'UNUSED' },
  ])
})

test('warns about persons of a policy who are unreachable or late', (t) => {
  const [first] = IMPLICIT_PLAN.steps as [Step]
  const people = ['anna', 'ben', 'lars'].map((person) => ({ person }))
  const steps = [
    { ...first, people },
    { ...first, wait: 300, people: [{ person: 'anna' }] },
  ]
  const use = { unreachable: new Set(['ben']), lastAfter: new Map([['anna', 600]]) }
  const policy = { name: 'Duty', plan: { ...IMPLICIT_PLAN, steps } }
  t.deepEqual(planWarnings(policy, new Set(['anna', 'ben']), use), [
    { code: 'UNREACHABLE', person: 'ben' },
    { code: 'NOT_MEMBER', person: 'lars' },
    { code: 'SLOW_RULES', person: 'anna', step: 1, policy: 'Duty' },
  ])
})

test('warns about an unreachable person before their shift', (t) => {
  const facts = aCoverage([aLayer({ people: ['anna', 'ben'] })])
  t.deepEqual(warningsOf(facts, NOW, ['ben', 'zoe']), [{ code: 'UNREACHABLE', person: 'ben' }])
})

test('warns about expected time without a person, also if the fallback covers it', (t) => {
  const layer = aLayer({ hours: [{ ...workdays, to: '12:00' }] })
  const facts = aCoverage([layer], { coverage: [workdays], fallback: 'zoe' })
  const gaps = warningsOf(facts, NOW)
  t.is(gaps.length, 22)
  const [first] = gaps
  t.deepEqual(first, { code: 'COVERAGE_GAP', from: at('2026-06-01T12:00Z'), until: at('2026-06-01T17:00Z') })
  t.deepEqual(warningsOf(aCoverage([layer], { coverage: 'none' }), NOW), [])
  t.is(warningsOf(aCoverage([aLayer({ hours: [{ ...workdays, days: ['hol'] }] })]), NOW).length, 2)
})

test('lists at most 50 warnings', (t) => {
  const hours = [0, 4, 8, 12, 16, 20].map((hour) => ({
    days: workdays.days,
    from: `${String(hour).padStart(2, '0')}:00`,
    to: `${String(hour + 1).padStart(2, '0')}:00`,
  }))
  t.is(warningsOf(aCoverage([aLayer({ hours })]), NOW).length, 50)
})

test('lists the time that a change adds to and removes from each person', (t) => {
  const [from, until] = [NOW, at('2026-06-03T00:00Z')]
  const before = shifts(aCoverage([aLayer({})]), from, until)
  const override = { number: 1, person: 'ben', replaces: null, start: at('2026-06-02T00:00Z'), end: until }
  const after = shifts({ ...aCoverage([aLayer({})]), overrides: [override] }, from, until)
  const moved = { from: at('2026-06-02T00:00Z'), until }
  t.deepEqual(changesOf(before, after), [
    { person: 'anna', added: [], removed: [moved] },
    { person: 'ben', added: [moved], removed: [] },
  ])
})
