import { ValidationError } from '../../errors.ts'
import type { FilterRules } from '../checks/check.ts'
import { MAX_INTEGRATIONS_LENGTH, type NamedIntegration, resolveIntegrations } from '../checks/integrations-field.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import { isJsonPointer } from '../checks/json-pointer.ts'
import { readPerson } from '../on-call/read-schedule.ts'
import type { PingAuth } from '../pings/ping-secret.ts'
import type { Parent, ParentsMode } from '../rules/parents.ts'
import { type RunRule, readRunRule } from '../rules/run.ts'
import { readSourceRule, type SourceRule } from '../rules/source-rule.ts'
import {
  invalid,
  isPresent,
  readBoolean,
  readChoice,
  readList,
  readNumber,
  readObject,
  readRecurring,
  readText,
  refuseUnknown,
} from './fields.ts'
import {
  type Fallback,
  IMPLICIT_PLAN,
  type Plan,
  type Policy,
  SEVERITIES,
  type Step,
  type StepTarget,
} from './policy.ts'

export type PolicyFields = Pick<Policy, 'name' | 'match' | 'position' | 'plan'>

const WEEK = 604_800
const DAY = 86_400
const MAX_TARGETS = 10
const MEMBERS = [
  ...['name', 'match', 'position', 'when', 'steps', 'group', 'flapping', 'ack_timeout'],
  ...['fallback', 'notify_ack'],
]

/** The objects that the steps of a policy may name. */
export interface StepNames {
  integrations: readonly NamedIntegration[]
  /** uuids of the schedules of the project and of the shared ones of its organisation */
  schedules: ReadonlySet<string>
}

/**
 * Null resets a member to its default (docs/spec/alerting.md#policies). @throws ValidationError for the first invalid
 * member, in the order of the specification's table
 */
export function readPolicy(body: JsonObject, current: PolicyFields | null, names: StepNames): PolicyFields {
  const changed = <T>(value: JsonValue | undefined, was: T | undefined, normal: T, read: (value: JsonValue) => T): T =>
    value === undefined ? (was ?? normal) : value === null ? normal : read(value)
  const plan = current?.plan
  const name = body.name === undefined && current ? current.name : readText(body.name, 'name', { min: 1, max: 100 })
  const fields = {
    name,
    match: changed(body.match, current?.match, '', (value) => readText(value, 'match', { max: 500 })),
    position: changed(body.position, current?.position, 0, (value) =>
      readNumber(value, 'position', { min: 0, max: 1000 }),
    ),
    plan: {
      when: changed(body.when, plan?.when, IMPLICIT_PLAN.when, readWhen),
      steps: body.steps === undefined && plan ? plan.steps : readSteps(body.steps, names),
      group: changed(body.group, plan?.group, IMPLICIT_PLAN.group, readGroup),
      flapping: changed(body.flapping, plan?.flapping, null, readFlapping),
      ack_timeout: changed(body.ack_timeout, plan?.ack_timeout, null, (value) =>
        readNumber(value, 'ack_timeout', { min: 300, max: WEEK, unit: 'seconds' }),
      ),
      fallback: changed<Fallback | null>(body.fallback, plan?.fallback, null, (value) => readFallback(value, names)),
      notify_ack: changed(body.notify_ack, plan?.notify_ack, false, (value) => readBoolean(value, 'notify_ack')),
    },
  }
  refuseUnknown(body, '', [...MEMBERS, 'api_key'])
  return fields
}

function optional<T>(value: JsonValue | undefined, normal: T, read: (value: JsonValue) => T): T {
  return isPresent(value) ? read(value) : normal
}

function readWhen(value: JsonValue): Plan['when'] {
  const when = readObject(value, 'when')
  const failures = optional(when.failures, 1, (it) => readNumber(it, 'when.failures', { min: 1, max: 20 }))
  const read = {
    failures,
    of: optional<number | null>(when.of, null, (it) => readNumber(it, 'when.of', { min: failures, max: 20 })),
    down_for: optional(when.down_for, 0, (it) =>
      readNumber(it, 'when.down_for', { min: 0, max: WEEK, unit: 'seconds' }),
    ),
    successes: optional(when.successes, 1, (it) => readNumber(it, 'when.successes', { min: 1, max: 20 })),
  }
  refuseUnknown(when, 'when', Object.keys(read))
  return read
}

function readSteps(value: JsonValue | undefined, names: StepNames): Step[] {
  return readList(value, 'steps', { min: 1, max: 10 }).map((it, index) => readStep(it, `steps[${index}]`, names))
}

function readStep(value: JsonValue, path: string, names: StepNames): Step {
  const step = readObject(value, path)
  const read: Step = {
    wait: optional(step.wait, 0, (it) => readNumber(it, `${path}.wait`, { min: 0, max: WEEK, unit: 'seconds' })),
    channels: optional<string[] | null>(step.channels, null, (it) => readIntegrations(it, `${path}.channels`, names)),
    people: optional<Step['people']>(step.people, [], (it) => readTargets(it, `${path}.people`, names)),
    own: optional<boolean | null>(step.own, null, (it) => readBoolean(it, `${path}.own`)),
    severity: optional(step.severity, 'info', (it) => readChoice(it, `${path}.severity`, SEVERITIES)),
    repeat: optional<Step['repeat']>(step.repeat, null, (it) => readRepeat(it, `${path}.repeat`)),
    hours: optional<Step['hours']>(step.hours, [], (it) =>
      readList(it, `${path}.hours`, { max: 7 }).map((time, index) => readRecurring(time, `${path}.hours[${index}]`)),
    ),
    outside: optional(step.outside, 'wait', (it) => readChoice(it, `${path}.outside`, ['wait', 'skip'])),
  }
  refuseUnknown(step, path, Object.keys(read))
  return read
}

function readTargets(value: JsonValue, path: string, { schedules }: StepNames): StepTarget[] {
  return readList(value, path, { max: MAX_TARGETS }).map((it, index) => {
    const at = `${path}[${index}]`
    const target = readObject(it, at)
    const isPerson = isPresent(target.person)
    refuseUnknown(target, at, [isPerson ? 'person' : 'schedule'])
    if (isPerson) return { person: readPerson(target.person, `${at}.person`) }
    const schedule = readText(target.schedule, `${at}.schedule`, { max: 100 })
    if (schedules.has(schedule)) return { schedule }
    throw invalid(`${at}.schedule`, 'must be the id of a schedule of the project or of a shared one')
  })
}

function readFallback(value: JsonValue, names: StepNames): Fallback {
  const fallback = readObject(value, 'fallback')
  const read = {
    wait: readNumber(fallback.wait, 'fallback.wait', { min: 60, max: DAY, unit: 'seconds' }),
    people: optional<Step['people']>(fallback.people, [], (it) => readTargets(it, 'fallback.people', names)),
    channels: optional<string[]>(fallback.channels, [], (it) => readIntegrations(it, 'fallback.channels', names)),
  }
  refuseUnknown(fallback, 'fallback', Object.keys(read))
  if (read.people.length + read.channels.length === 0) throw invalid('fallback', 'must have people or channels')
  return read
}

function readIntegrations(value: JsonValue, path: string, { integrations }: StepNames): string[] {
  const choice = resolveIntegrations(readText(value, path, { max: MAX_INTEGRATIONS_LENGTH }), integrations)
  if (!choice.ok) throw new ValidationError(choice.error)
  return choice.ids
}

function readRepeat(value: JsonValue, path: string): Step['repeat'] {
  const repeat = readObject(value, path)
  const every = readNumber(repeat.every, `${path}.every`, { min: 60, max: WEEK, unit: 'seconds' })
  const times = optional<number | null>(repeat.times, null, (it) =>
    readNumber(it, `${path}.times`, { min: 1, max: 1000 }),
  )
  refuseUnknown(repeat, path, ['every', 'times'])
  return { every, times }
}

function readGroup(value: JsonValue): Plan['group'] {
  const group = readObject(value, 'group')
  const read = {
    checks: optional(group.checks, 20, (it) => readNumber(it, 'group.checks', { min: 2, max: 10_000 })),
    within: optional(group.within, 0, (it) => readNumber(it, 'group.within', { min: 0, max: 600, unit: 'seconds' })),
  }
  refuseUnknown(group, 'group', Object.keys(read))
  return read
}

function readFlapping(value: JsonValue): Plan['flapping'] {
  const flapping = readObject(value, 'flapping')
  const changes = readNumber(flapping.changes, 'flapping.changes', { min: 3, max: 50 })
  const within = readNumber(flapping.within, 'flapping.within', { min: 300, max: 86_400, unit: 'seconds' })
  refuseUnknown(flapping, 'flapping', ['changes', 'within'])
  return { changes, within }
}

export interface RuleFields {
  /** uuid; null: the policy that matches */
  policy: string | null
  severity: Policy['plan']['steps'][number]['severity']
  /** docs/spec/alerting.md#dependencies */
  parents: readonly Parent[]
  parents_mode: ParentsMode
  /** docs/spec/alerting.md#watched-runs */
  run: RunRule | null
  /** docs/spec/alerting.md#sources */
  sources: SourceRule | null
  ping_auth: { mode: PingAuth['mode'] } | null
  previews: 'ignore' | null
  /** JSON Pointer (docs/spec/monitoring.md#keyword-text) */
  filter_json: string | null
  /** docs/spec/monitoring.md#keyword-filters */
  filter_else: 'url' | null
  /** seconds (docs/spec/monitoring.md#grace-and-deadline) */
  early: number
}

export const NO_RULES: RuleFields = {
  policy: null,
  severity: 'critical',
  parents: [],
  parents_mode: 'any',
  run: null,
  sources: null,
  ping_auth: null,
  previews: null,
  filter_json: null,
  filter_else: null,
  early: 0,
}

const RULES = Object.keys(NO_RULES)

export function readRules(body: JsonObject, current: RuleFields, path: '' | 'rules.' = ''): RuleFields {
  const policy =
    body.policy === undefined
      ? current.policy
      : isPresent(body.policy)
        ? readText(body.policy, `${path}policy`, { max: 100 })
        : null
  const severity =
    body.severity === undefined
      ? current.severity
      : optional(body.severity, 'critical', (it) => readChoice(it, `${path}severity`, SEVERITIES))
  const parents =
    body.parents === undefined
      ? current.parents
      : optional<readonly Parent[]>(body.parents, [], (it) => readParents(it, `${path}parents`))
  const mode =
    body.parents_mode === undefined
      ? current.parents_mode
      : optional<ParentsMode>(body.parents_mode, 'any', (it) => readChoice(it, `${path}parents_mode`, ['any', 'all']))
  const run = kept(body.run, current.run, (it) => readRunRule(it, `${path}run`))
  const sources = kept(body.sources, current.sources, (it) => readSourceRule(it, `${path}sources`))
  const auth = kept(body.ping_auth, current.ping_auth, (it) => ({ mode: readPingAuth(it, `${path}ping_auth`).mode }))
  const previews = kept(body.previews, current.previews, (it) => readChoice(it, `${path}previews`, ['ignore']))
  const json = kept(body.filter_json, current.filter_json, (it) => readPointer(it, `${path}filter_json`))
  const otherwise = kept(body.filter_else, current.filter_else, (it) => readChoice(it, `${path}filter_else`, ['url']))
  const early =
    body.early === undefined
      ? current.early
      : optional(body.early, 0, (it) => readNumber(it, `${path}early`, { min: 0, max: 86_400, unit: 'seconds' }))
  const unknown = Object.keys(body).find((name) => !RULES.includes(name) && (path !== '' || name !== 'api_key'))
  if (unknown !== undefined) throw invalid(`${path}${unknown}`, 'is not a known member')
  const filters = { filter_json: json, filter_else: otherwise }
  return { policy, severity, parents, parents_mode: mode, run, sources, ping_auth: auth, previews, ...filters, early }
}

type FilterFields = Pick<RuleFields, 'filter_json' | 'filter_else'>

/** Returns the rules that classify pings; null if none is set. */
export function filterRulesOf({ filter_json: json, filter_else: otherwise }: FilterFields): FilterRules | null {
  return json === null && otherwise === null ? null : { json, else: otherwise }
}

function readPointer(value: JsonValue, path: string): string {
  const pointer = readText(value, path, { max: 200 })
  if (!isJsonPointer(pointer)) throw invalid(path, 'must be a JSON Pointer, for example /status')
  return pointer
}

export function readPingAuth(value: JsonValue, path: string): { mode: PingAuth['mode']; overlap: number } {
  const auth = readObject(value, path)
  const read = {
    mode: readChoice(auth.mode, `${path}.mode`, ['bearer', 'hmac']),
    overlap: optional(auth.overlap, 0, (it) =>
      readNumber(it, `${path}.overlap`, { min: 0, max: WEEK, unit: 'seconds' }),
    ),
  }
  refuseUnknown(auth, path, Object.keys(read))
  return read
}

function kept<T>(value: JsonValue | undefined, current: T | null, read: (value: JsonValue) => T): T | null {
  return value === undefined ? current : isPresent(value) ? read(value) : null
}

function readParents(value: JsonValue, path: string): Parent[] {
  return readList(value, path, { max: 20 }).map((it, index) => {
    const parent = readObject(it, `${path}[${index}]`)
    const isCheck = isPresent(parent.check)
    refuseUnknown(parent, `${path}[${index}]`, [isCheck ? 'check' : 'tag'])
    if (isCheck) return { check: readText(parent.check, `${path}[${index}].check`, { max: 100 }) }
    const tag = readText(parent.tag, `${path}[${index}].tag`, { min: 1, max: 100 })
    if (/\s/.test(tag)) throw invalid(`${path}[${index}].tag`, 'must not contain spaces')
    return { tag }
  })
}
