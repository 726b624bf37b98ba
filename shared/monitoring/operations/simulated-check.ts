import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { type Micros, microsOfDate } from '../../time.ts'
import { isUuid } from '../../uuid.ts'
import { invalid, isPresent, MUST_BE_INSTANT, readChoice, readList, readObject, readText } from '../alerting/fields.ts'
import { findRules } from '../alerting/policy-store.ts'
import { filterRulesOf, NO_RULES, type RuleFields, readRules } from '../alerting/read-policy.ts'
import type { CheckSettings } from '../checks/fields.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import { classifyHttp, searchedText } from '../checks/keywords.ts'
import { RULE_BITS } from '../checks/rule-bits.ts'
import { applySpec } from '../checks/settings.ts'
import { BEGIN, type CheckMachine, type PingType } from '../checks/state-machine.ts'
import { findCheck } from '../checks/store.ts'
import { type CheckFlip, listFlipsOfChecks } from '../pages/status-history-store.ts'
import { listPings } from '../pings/store.ts'
import type { RuleState } from '../rules/rule-state.ts'
import { NO_TALLY } from '../rules/run.ts'
import type { SourceRule } from '../rules/source-rule.ts'
import type { Played } from '../simulation/virtual-check.ts'
import { chooseIntegrations, parseSpec } from './check-changes.ts'

export interface CheckToSimulate {
  id: number | null
  uuid: string
  name: string
  tags: string
  settings: CheckSettings
  integrationIds: readonly string[]
  rules: RuleFields
}

const NO_UUID = '00000000-0000-4000-8000-000000000000'

/**
 * Reads a check of the project, or one that `settings` describes; `rules` overrides its rules. @throws
 * ValidationError for the first invalid member, NotFoundError for a check of another project
 */
export async function readSimulatedCheck(db: Knex, projectId: number, body: JsonObject): Promise<CheckToSimulate> {
  const overrides = isPresent(body.rules) ? readObject(body.rules, 'rules') : {}
  if (isPresent(body.settings)) {
    if (isPresent(body.check)) throw invalid('settings', 'must not be given together with check')
    const spec = parseSpec(readObject(body.settings, 'settings'))
    const settings = applySpec(null, spec, { slugFromName: false })
    const integrationIds = (await chooseIntegrations(db, projectId, spec)) ?? []
    const rules = readRules(overrides, NO_RULES, 'rules.')
    return { id: null, uuid: NO_UUID, name: settings.name, tags: settings.tags, settings, integrationIds, rules }
  }
  const uuid = readText(body.check, 'check', { max: 100 })
  const check = isUuid(uuid) ? await findCheck(db, uuid) : null
  if (check?.projectId !== projectId) throw new NotFoundError('')
  const rules = readRules(overrides, await findRules(db, check.id), 'rules.')
  const { id, name, tags, integrationIds } = check
  return { id, uuid: check.uuid, name, tags, settings: check, integrationIds, rules }
}

/** Every simulation begins in the state of a new check. */
export function freshCheck({ settings, rules }: CheckToSimulate): CheckMachine {
  return {
    ...settings,
    ...BEGIN,
    filterRules: filterRulesOf(rules),
    earlySeconds: rules.early,
    ruleBits: (rules.run ? RULE_BITS.runs : 0) | (rules.sources ? RULE_BITS.sources : 0),
  }
}

export function freshRuling({ rules: { run, sources } }: CheckToSimulate): RuleState | null {
  if (!run && !sources) return null
  const tally = { ...NO_TALLY, buckets: [...NO_TALLY.buckets] }
  return {
    checkId: 0,
    runs: run && { rule: run, open: [], headless: [], tally, p95: null, changed: new Set() },
    sources: sources && { rule: sources, expectedFrom: null, sources: [], changed: new Set() },
  }
}

const MAX_EVENTS = 5_000
const INSTANT = /^[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/
const KINDS = ['success', 'start', 'fail', 'log'] as const
const MAX_SOURCE_LENGTH = 64
const MAX_BODY_LENGTH = 10_000

export type Requested = { kind: 'events'; events: Played[] } | { kind: 'pings' | 'flips' }

/** @throws ValidationError for the first invalid member */
export function readSimulationRequest(body: JsonObject, check: CheckToSimulate): Requested {
  const events = isPresent(body.events) ? eventsOf(body.events, freshCheck(check)) : null
  const recorded = isPresent(body.recorded) ? readChoice(body.recorded, 'recorded', ['pings', 'flips']) : null
  if (events && recorded) throw invalid('recorded', 'must not be given together with events')
  // A check that is only described has no log.
  if (!events && isPresent(body.settings)) throw invalid('events', 'is required with settings')
  return events ? { kind: 'events', events } : { kind: recorded ?? 'pings' }
}

/** The keyword filters apply to events with a body, as if each were a POST request. */
function eventsOf(value: JsonValue, check: CheckMachine): Played[] {
  return readList(value, 'events', { max: MAX_EVENTS })
    .map((item, index) => {
      const path = `events[${index}]`
      const event = readObject(item, path)
      const rid = isPresent(event.rid) ? readText(event.rid, `${path}.rid`, { max: 36 }) : null
      if (rid !== null && !isUuid(rid)) throw invalid(`${path}.rid`, 'must be a UUID')
      const source = isPresent(event.source) ? readText(event.source, `${path}.source`, { max: MAX_SOURCE_LENGTH }) : ''
      const sent = isPresent(event.body) ? readText(event.body, `${path}.body`, { max: MAX_BODY_LENGTH }) : null
      const at = readInstant(event.at, `${path}.at`)
      const kind = readChoice(event.kind, `${path}.kind`, KINDS)
      return { at, kind: sent === null ? kind : kindOf(check, kind, sent), rid, source, listener: 'http' as const }
    })
    .toSorted((a, b) => a.at - b.at)
}

function kindOf(check: CheckMachine, kind: (typeof KINDS)[number], body: string): PingType {
  const { bodyText } = searchedText(check, Buffer.from(body))
  return classifyHttp(check, { kind, method: 'POST', bodyText })
}

export function readInstant(value: JsonValue | undefined, path: string): Micros {
  const text = readText(value, path, { max: 40 })
  const date = new Date(INSTANT.test(text) ? text : Number.NaN)
  if (Number.isNaN(date.getTime())) throw invalid(path, MUST_BE_INSTANT)
  return microsOfDate(date)
}

/** Ascending. Stored pings do not contain sources named by query or header, so flips replace them. */
export async function recordingOf(
  db: Knex,
  checkId: number,
  { kind, sources }: { kind: 'pings' | 'flips'; sources: SourceRule | null },
): Promise<Played[]> {
  const flips = (await listFlipsOfChecks(db, [checkId])).get(checkId) ?? []
  const namesSources = sources !== null && sources.by !== 'address'
  if (kind === 'flips' || namesSources) return flips.map(changeOf)
  const pings = await listPings(db, checkId, 0, MAX_EVENTS)
  const recorded = pings
    .map(
      ({ type, at, rid, scheme, remoteAddr }): Played => ({
        kind: type,
        at,
        rid,
        source: remoteAddr ?? '',
        listener: scheme === 'email' ? 'smtp' : 'http',
      }),
    )
    .toReversed()
  const since = recorded[0]?.at ?? Number.POSITIVE_INFINITY
  const pauses = flips.flatMap(({ at, to }): Played[] => {
    if (at < since || (to !== 'paused' && to !== 'new')) return []
    return [{ kind: to === 'paused' ? 'pause' : 'resume', at }]
  })
  // At the same instant, a ping comes before the end of the pause that it caused.
  return [...recorded, ...pauses].sort((a, b) => a.at - b.at)
}

function changeOf({ at, from, to, reason }: CheckFlip): Played {
  return { kind: 'change', at, change: { from, to, reason, processed: to === 'paused' || to === 'new' } }
}
