import type { Knex } from 'knex'
import { ValidationError } from '../../errors.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { createTimeSlices } from '../../platform/process/time-slices.ts'
import { invalid, mustBeOneOf, readObject } from '../alerting/fields.ts'
import { rulesOfChecks } from '../alerting/policy-store.ts'
import { NO_RULES, type RuleFields, readRules } from '../alerting/read-policy.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import { listChecks, lockCheck } from '../checks/store.ts'
import { splitTags } from '../checks/tags.ts'
import { isPingSecret } from '../pings/ping-secret.ts'
import { findPingSecrets, savePingSecret } from '../pings/secret-store.ts'
import type { ObjectChanges, SettingChanges } from '../projects/config-document.ts'
import { nodesOf } from '../rules/parent-store.ts'
import type { Node } from '../rules/parents.ts'
import { parseSpec } from './check-changes.ts'
import { identity, locating } from './export-project.ts'
import { differences } from './import-alerting.ts'
import { refuseRings, storeRuleFields } from './rules.ts'

interface RulesImport {
  projectId: number
  apply: boolean
  policies: ReadonlySet<string>
  report: ObjectChanges
}

interface Wanted {
  uuid: string
  name: string
  before: RuleFields
  rules: RuleFields
  secret: string | null
}

/**
 * The checks of the document must be imported before. A document without secrets leaves ping secrets unchanged.
 * Returns uuids of changed checks. @throws ValidationError with the path of the first invalid entry
 */
export async function importRules(
  tx: Knex,
  { secrets }: { secrets: Secrets },
  { projectId, apply, policies, report }: RulesImport,
  listed: readonly JsonObject[],
): Promise<string[]> {
  const entries = [...listed.entries()].filter(([, { rules }]) => rules !== undefined)
  if (entries.length === 0) return []
  const checks = new Map((await listChecks(tx, projectId)).map((check) => [check.uuid, check]))
  const ids = entries.flatMap(([, { uuid }]) => checks.get(String(uuid))?.id ?? [])
  const stored = await rulesOfChecks(tx, ids)
  const sealed = await findPingSecrets(tx, ids)
  const changed: Wanted[] = []
  const slices = createTimeSlices()
  for (const [index, entry] of entries) {
    await slices.yieldIfNeeded()
    await locating(`checks[${index}]`, async () => {
      const uuid = identity(entry.uuid, 'uuid')
      const check = checks.get(uuid)
      const before = (check && stored.get(check.id)) ?? NO_RULES
      const { body, auth } = withoutSecret(readObject(entry.rules, 'rules'))
      const read = readRules(body, before, 'rules.')
      const rules = auth ? { ...read, ping_auth: { mode: auth.mode } } : read
      if (rules.policy !== null && !policies.has(rules.policy))
        throw invalid('rules.policy', 'must be the id of a policy of the project')
      const old = check && sealed.get(check.id)
      const isNewSecret = auth !== null && (!old || secrets.open('ping-secret', old) !== auth.secret)
      const changes = { ...differences(before, rules), ...(isNewSecret && { ping_secret: SECRET_CHANGED }) }
      if (Object.keys(changes).length === 0) return
      const name = parseSpec(entry).name ?? check?.name ?? ''
      changed.push({ uuid, name, before, rules, secret: isNewSecret ? auth.secret : null })
      noteRules(report, { id: uuid, name, changes })
    })
  }
  await refuseImportedRings(tx, projectId, listed, changed)
  if (!apply) return []
  for (const { uuid, before, rules, secret } of changed) {
    await slices.yieldIfNeeded()
    const check = await lockCheck(tx, projectId, uuid)
    if (!check) continue
    await storeRuleFields(tx, check, before, rules)
    if (secret === null) continue
    await savePingSecret(tx, check.id, { sealedSecret: secrets.seal('ping-secret', secret), overlapSeconds: 0 })
  }
  return changed.map(({ uuid }) => uuid)
}

/** The value is secret, so the report only shows that it differs. */
const SECRET_CHANGED = { from: '(stored)', to: '(given)' }

/** Ignores `ping_auth` without a secret. */
function withoutSecret({ ping_auth: pingAuth, ...body }: JsonObject): {
  body: JsonObject
  auth: { mode: 'bearer' | 'hmac'; secret: string } | null
} {
  if (!isObject(pingAuth) || pingAuth.secret === undefined) return { body, auth: null }
  const { mode, secret } = pingAuth
  if (mode !== 'bearer' && mode !== 'hmac') throw invalid('rules.ping_auth.mode', mustBeOneOf(['bearer', 'hmac']))
  if (typeof secret !== 'string' || !isPingSecret(secret)) {
    throw invalid('rules.ping_auth.secret', 'must be an exported ping secret')
  }
  return { body, auth: { mode, secret } }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function noteRules(report: ObjectChanges, update: { id: string; name: string; changes: SettingChanges }): void {
  if (report.create.some(({ id }) => id === update.id)) return
  const changes = Object.fromEntries(Object.entries(update.changes).map(([name, change]) => [`rules.${name}`, change]))
  const noted = report.update.find(({ id }) => id === update.id)
  if (noted) Object.assign(noted.changes, changes)
  else {
    report.update.push({ ...update, changes })
    report.unchanged -= 1
  }
}

async function refuseImportedRings(
  tx: Knex,
  projectId: number,
  listed: readonly JsonObject[],
  changed: readonly Wanted[],
): Promise<void> {
  if (!changed.some(({ rules }) => rules.parents.length > 0)) return
  const nodes = new Map<string, Node>((await nodesOf(tx, [projectId], 0)).map((node) => [node.uuid, node]))
  const rulesOf = new Map(changed.map(({ uuid, rules }) => [uuid, rules]))
  for (const entry of listed) {
    const uuid = String(entry.uuid)
    const { name, tags } = parseSpec(entry)
    const node = nodes.get(uuid) ?? { uuid, name: '', tags: [], parents: [], mode: 'any', state: 'fine' }
    nodes.set(uuid, {
      ...node,
      name: name ?? node.name,
      tags: tags === undefined ? node.tags : splitTags(tags),
      parents: rulesOf.get(uuid)?.parents ?? node.parents,
    })
  }
  const withParents = changed.filter(({ rules }) => rules.parents.length > 0).map(({ uuid }) => uuid)
  try {
    refuseRings([...nodes.values()], withParents, 'rules.')
  } catch (error) {
    if (error instanceof ValidationError) throw new ValidationError(`checks: ${error.message}`)
    throw error
  }
}
