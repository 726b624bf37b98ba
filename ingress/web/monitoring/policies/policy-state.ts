import {
  IMPLICIT_PLAN,
  type Policy,
  type RecurringTime,
  type Step,
  type StepTarget,
  usesOwn,
} from '#shared/monitoring/alerting/policy.ts'
import type { JsonObject, JsonValue } from '#shared/monitoring/checks/json-body.ts'
import { field } from '../../shell/context.ts'
import { secondsOf, splitDuration } from '../../shell/format.ts'

/** Texts by field name, which is the path in the API's errors. */
type Values = Readonly<Record<string, string>>

interface StepState {
  /** uuids of chosen integrations; used only if the step does not use the check's integrations */
  integrations: ReadonlySet<string>
  /** `schedule:<uuid>` or `person:<address>` */
  people: ReadonlySet<string>
  /** number of quiet hours with fields */
  hours: number
}

export interface PolicyFormState {
  values: Values
  steps: readonly StepState[]
  fallback: Pick<StepState, 'integrations' | 'people'>
}

export function targetKey(target: StepTarget): string {
  return 'person' in target ? `person:${target.person}` : `schedule:${target.schedule}`
}

function targetOf(key: string): JsonObject {
  const at = key.indexOf(':')
  const target = { [key.startsWith('person:') ? 'person' : 'schedule']: key.slice(at + 1) }
  return Object.assign(Object.create(null), target)
}

/** docs/spec/alerting.md#policies */
export const MAX_STEPS = 10
export const MAX_HOURS = 7

const SPANS = ['when.down_for', 'group.within', 'flapping.within', 'ack_timeout', 'fallback.wait']
const NUMBERS = ['position', 'when.failures', 'when.of', 'when.successes', 'group.checks', 'flapping.changes']
const STEP_TEXTS = [
  'wait',
  'wait_unit',
  'whom',
  'severity',
  'repeat.every',
  'repeat.every_unit',
  'repeat.times',
  'outside',
]
const HOURS_TEXTS = ['every', 'for', 'for_unit', 'tz']

/** Default policy: immediately, then each hour. */
export const NEW_POLICY: Pick<Policy, 'name' | 'match' | 'position' | 'plan'> = {
  name: '',
  match: '',
  position: 0,
  plan: {
    ...IMPLICIT_PLAN,
    steps: IMPLICIT_PLAN.steps.map((step) => ({ ...step, repeat: { every: 3600, times: null } })),
  },
}

export function stateOfPolicy({ name, match, position, plan }: typeof NEW_POLICY): PolicyFormState {
  const { when, group, flapping } = plan
  return {
    values: {
      name,
      match,
      position: String(position),
      'when.failures': String(when.failures),
      'when.of': textOf(when.of),
      ...span('when.down_for', when.down_for),
      'when.successes': String(when.successes),
      'group.checks': String(group.checks),
      ...span('group.within', group.within),
      'flapping.changes': textOf(flapping?.changes),
      ...span('flapping.within', flapping?.within),
      ...span('ack_timeout', plan.ack_timeout),
      ...span('fallback.wait', plan.fallback?.wait),
      notify_ack: plan.notify_ack ? 'on' : '',
      ...Object.assign({}, ...plan.steps.map(valuesOfStep)),
    },
    steps: plan.steps.map(({ channels: integrations, people, hours }) => ({
      integrations: new Set(integrations),
      people: new Set(people.map(targetKey)),
      hours: hours.length,
    })),
    fallback: {
      integrations: new Set(plan.fallback?.channels),
      people: new Set(plan.fallback?.people.map(targetKey)),
    },
  }
}

function valuesOfStep(step: Step, index: number): Values {
  const path = `steps[${index}]`
  return {
    ...span(`${path}.wait`, step.wait),
    [`${path}.whom`]: whomOf(step),
    [`${path}.severity`]: step.severity,
    ...span(`${path}.repeat.every`, step.repeat?.every),
    [`${path}.repeat.times`]: textOf(step.repeat?.times),
    [`${path}.outside`]: step.outside,
    ...Object.assign({}, ...step.hours.map((time, at) => valuesOfTime(time, `${path}.hours[${at}]`))),
  }
}

function whomOf(step: Step): string {
  if (!usesOwn(step)) return step.channels === null ? 'none' : 'chosen'
  return step.channels === null ? 'own' : 'both'
}

function valuesOfTime(time: RecurringTime, path: string): Values {
  return { [`${path}.every`]: time.every, ...span(`${path}.for`, time.for), [`${path}.tz`]: time.tz }
}

const textOf = (value: number | null | undefined) => (value === null || value === undefined ? '' : String(value))

function span(name: string, seconds: number | null | undefined): Values {
  if (seconds === null || seconds === undefined) return { [name]: '', [`${name}_unit`]: 'minutes' }
  const { count, unit } = splitDuration(seconds)
  return { [name]: String(count), [`${name}_unit`]: seconds === 0 ? 'minutes' : unit }
}

export function stateOfForm(form: URLSearchParams): PolicyFormState {
  const count = Math.min(MAX_STEPS, numberIn(form, 'steps'))
  const steps = Array.from({ length: count }, (_, index) => ({
    integrations: new Set(form.getAll(`steps[${index}].channels`)),
    people: new Set(form.getAll(`steps[${index}].people`)),
    hours: Math.min(MAX_HOURS, numberIn(form, `steps[${index}].hours`)),
  }))
  const names = [...['name', 'match', 'notify_ack'], ...NUMBERS, ...SPANS.flatMap((name) => [name, `${name}_unit`])]
  for (const [index, { hours }] of steps.entries()) {
    names.push(...STEP_TEXTS.map((name) => `steps[${index}].${name}`))
    for (let at = 0; at < hours; at++) names.push(...HOURS_TEXTS.map((name) => `steps[${index}].hours[${at}].${name}`))
  }
  const fallback = {
    integrations: new Set(form.getAll('fallback.channels')),
    people: new Set(form.getAll('fallback.people')),
  }
  return { values: Object.fromEntries(names.map((name) => [name, field(form, name)])), steps, fallback }
}

function numberIn(form: URLSearchParams, name: string): number {
  return /^\d{1,2}$/.test(form.get(name) ?? '') ? Number(form.get(name)) : 0
}

/** Adds a step: a quarter of an hour later, repeated each hour. */
export function withStep(state: PolicyFormState): PolicyFormState {
  const { values, steps } = state
  if (steps.length >= MAX_STEPS) return state
  const later: Step = { ...NEW_STEP, wait: 900, repeat: { every: 3600, times: null } }
  const added = { ...valuesOfStep(later, steps.length), [`steps[${steps.length}].whom`]: 'chosen' }
  const step = { integrations: new Set<string>(), people: new Set<string>(), hours: 0 }
  return { ...state, values: { ...values, ...added }, steps: [...steps, step] }
}

const NEW_STEP: Step = {
  wait: 0,
  channels: null,
  people: [],
  own: null,
  severity: 'info',
  repeat: null,
  hours: [],
  outside: 'wait',
}

/** Removes a step, but never the last one. */
export function withoutStep(state: PolicyFormState, removed: number): PolicyFormState {
  const { values, steps } = state
  if (steps.length <= 1 || removed >= steps.length) return state
  const left = Object.entries(values).flatMap(([name, value]) => {
    const [prefix = '', index] = /^steps\[(\d+)\]/.exec(name) ?? []
    if (index === undefined || Number(index) < removed) return [[name, value]]
    return Number(index) === removed ? [] : [[`steps[${Number(index) - 1}]${name.slice(prefix.length)}`, value]]
  })
  return { ...state, values: Object.fromEntries(left), steps: steps.filter((_, index) => index !== removed) }
}

export function withHours(state: PolicyFormState, at: number): PolicyFormState {
  const { values, steps } = state
  const hours = Math.min(MAX_HOURS, (steps[at]?.hours ?? 0) + 1)
  const added = valuesOfTime({ every: '', for: 36_000, tz: 'UTC' }, `steps[${at}].hours[${hours - 1}]`)
  const isNew = hours > (steps[at]?.hours ?? 0)
  return {
    ...state,
    values: isNew ? { ...values, ...added } : values,
    steps: steps.map((step, index) => (index === at ? { ...step, hours } : step)),
  }
}

export function withoutEmptyHours(state: PolicyFormState): PolicyFormState {
  let { values } = state
  const steps = state.steps.map((step, index) => {
    const path = `steps[${index}].hours`
    const kept = Array.from({ length: step.hours }, (_, at) => at).filter((at) => values[`${path}[${at}].every`])
    const moved = kept.flatMap((from, to) =>
      HOURS_TEXTS.map((name) => [`${path}[${to}].${name}`, values[`${path}[${from}].${name}`] ?? '']),
    )
    values = { ...values, ...Object.fromEntries(moved) }
    return { ...step, hours: kept.length }
  })
  return { ...state, values, steps }
}

/** Returns a request of the API, which validates it. Empty fields become defaults. */
export function bodyOfState({ values, steps, fallback }: PolicyFormState): JsonObject {
  const at = (name: string): string => values[name] ?? ''
  const number = (name: string) => numberOf(at(name))
  const seconds = (name: string) => spanOf(at(name), at(`${name}_unit`))
  const isFlapping = at('flapping.changes') !== '' || at('flapping.within') !== ''
  return {
    name: at('name'),
    match: at('match'),
    position: number('position'),
    when: {
      failures: number('when.failures'),
      of: number('when.of'),
      down_for: seconds('when.down_for'),
      successes: number('when.successes'),
    },
    steps: steps.map((step, index) => bodyOfStep(values, step, `steps[${index}]`)),
    group: { checks: number('group.checks'), within: seconds('group.within') },
    flapping: isFlapping ? { changes: number('flapping.changes'), within: seconds('flapping.within') } : null,
    ack_timeout: seconds('ack_timeout'),
    fallback: bodyOfFallback(fallback, seconds('fallback.wait')),
    notify_ack: at('notify_ack') === 'on',
  }
}

function bodyOfFallback({ people, integrations }: PolicyFormState['fallback'], wait: JsonValue): JsonObject | null {
  if (people.size + integrations.size === 0) return null
  return { wait: wait ?? FALLBACK_WAIT, people: [...people].map(targetOf), channels: [...integrations].join(',') }
}

const FALLBACK_WAIT = 900

function bodyOfStep(values: Values, { integrations, people, hours }: StepState, path: string): JsonObject {
  const at = (name: string): string => values[`${path}.${name}`] ?? ''
  const repeats = at('repeat.every') !== '' || at('repeat.times') !== ''
  const times = Array.from({ length: hours }, (_, index) => `hours[${index}]`)
  return {
    wait: spanOf(at('wait'), at('wait_unit')),
    ...recipientsOf(at('whom'), [...integrations], [...people]),
    severity: at('severity') || null,
    repeat: repeats
      ? { every: spanOf(at('repeat.every'), at('repeat.every_unit')), times: numberOf(at('repeat.times')) }
      : null,
    hours: times.map((time) => ({
      every: at(`${time}.every`),
      for: spanOf(at(`${time}.for`), at(`${time}.for_unit`)),
      tz: at(`${time}.tz`) || null,
    })),
    outside: at('outside') || null,
  }
}

function recipientsOf(whom: string, integrations: readonly string[], people: readonly string[]): JsonObject {
  const isNamed = whom === 'both' || (whom === 'chosen' && (integrations.length > 0 || people.length === 0))
  return {
    channels: isNamed ? integrations.join(',') : null,
    people: people.map(targetOf),
    own: whom !== 'chosen' && whom !== 'none',
  }
}

/** Returns a whole number; other text unchanged, for the API's validation to refuse. */
function numberOf(text: string): JsonValue {
  if (text === '') return null
  return /^-?\d{1,9}$/.test(text) ? Number(text) : text
}

function spanOf(text: string, unit: string): JsonValue {
  if (text === '') return null
  const seconds = secondsOf(text, unit)
  return Number.isInteger(seconds) ? seconds : text
}

/** Returns true if a rarely used setting differs from its default. */
export function hasMore({ values }: PolicyFormState): boolean {
  const { values: usual } = stateOfPolicy(NEW_POLICY)
  const isRare = (name: string) => name !== 'position' && name !== 'fallback.wait'
  return [...NUMBERS, ...SPANS].some((name) => isRare(name) && (values[name] ?? '') !== usual[name])
}
