import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { isUuid } from '../../uuid.ts'
import { invalid, isPresent, readObject, readText } from '../alerting/fields.ts'
import { findRules } from '../alerting/policy-store.ts'
import { NO_RULES, type RuleFields, readRules } from '../alerting/read-policy.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { RULE_BITS } from '../checks/rule-bits.ts'
import { applySpec, type CheckSettings } from '../checks/settings.ts'
import { BEGIN, type CheckMachine } from '../checks/state-machine.ts'
import { findCheck } from '../checks/store.ts'
import type { RuleState } from '../rules/rule-state.ts'
import { NO_TALLY } from '../rules/run.ts'
import { chooseIntegrations, parseSpec } from './check-changes.ts'

/** The check that a simulation is about, with the rules that it is played by. */
export interface CheckToSimulate {
  /** null: it is described, and not one of the project */
  id: number | null
  uuid: string
  name: string
  /** as stored */
  tags: string
  settings: CheckSettings
  integrationIds: readonly string[]
  rules: RuleFields
}

/** Nobody's: of a check that is only described. */
const NO_UUID = '00000000-0000-4000-8000-000000000000'

/**
 * Reads which check a request is about: one of the project, or one described by `settings`; `rules` changes what the check
 * has of them.
 * @throws ValidationError with the first thing that is wrong, NotFoundError for a check that the project does not have
 */
export async function readSimulatedCheck(db: Knex, projectId: number, body: JsonObject): Promise<CheckToSimulate> {
  const given = isPresent(body.rules) ? readObject(body.rules, 'rules') : {}
  if (isPresent(body.settings)) {
    if (isPresent(body.check)) throw invalid('settings', 'has unexpected value')
    const spec = parseSpec(readObject(body.settings, 'settings'))
    const settings = applySpec(null, spec, { slugFromName: false })
    const integrationIds = (await chooseIntegrations(db, projectId, spec)) ?? []
    const rules = readRules(given, NO_RULES, 'rules.')
    return { id: null, uuid: NO_UUID, name: settings.name, tags: settings.tags, settings, integrationIds, rules }
  }
  const uuid = readText(body.check, 'check', { max: 100 })
  const check = isUuid(uuid) ? await findCheck(db, uuid) : null
  if (check?.projectId !== projectId) throw new NotFoundError('')
  const rules = readRules(given, await findRules(db, check.id), 'rules.')
  const { id, name, tags, integrationIds } = check
  return { id, uuid: check.uuid, name, tags, settings: check, integrationIds, rules }
}

/** The check as it was before anything happened to it: whatever state it is in now, a simulation begins with a new one. */
export function freshCheck({ settings, rules }: CheckToSimulate): CheckMachine {
  return {
    ...settings,
    ...BEGIN,
    ruleBits: (rules.run ? RULE_BITS.runs : 0) | (rules.sources ? RULE_BITS.sources : 0),
  }
}

/** What its rules of runs and sources begin with; null for a check that has none. */
export function freshRuling({ rules: { run, sources } }: CheckToSimulate): RuleState | null {
  if (!run && !sources) return null
  const tally = { ...NO_TALLY, buckets: [...NO_TALLY.buckets] }
  return {
    checkId: 0,
    runs: run && { rule: run, open: [], headless: [], tally, p95: null, changed: new Set() },
    sources: sources && { rule: sources, expectedFrom: null, sources: [], changed: new Set() },
  }
}
