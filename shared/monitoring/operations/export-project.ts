import type { Knex } from 'knex'
import { ValidationError } from '../../errors.ts'
import { mapYielding } from '../../platform/process/time-slices.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { nowMicros } from '../../time.ts'
import { isUuid } from '../../uuid.ts'
import { policyView } from '../alerting/policy.ts'
import { policiesOf, rulesOfChecks } from '../alerting/policy-store.ts'
import { NO_RULES } from '../alerting/read-policy.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import { type AssignedCheck, listChecks } from '../checks/store.ts'
import { findKind } from '../integrations/kinds.ts'
import { shownConfig } from '../integrations/shown-config.ts'
import { listIntegrations } from '../integrations/store.ts'
import { windowView } from '../maintenance/window.ts'
import { windowsOf } from '../maintenance/window-store.ts'
import { overridesOf } from '../on-call/override-store.ts'
import { listSchedules } from '../on-call/schedule-store.ts'
import { findPingSecrets } from '../pings/secret-store.ts'
import {
  CONFIG_DOCUMENT_VERSION,
  type ConfigDocument,
  documentedSchedule,
  toDocumentedCheck,
  toDocumentedRules,
} from '../projects/config-document.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'
import { decryptConfig, needsSettings } from './integration-config.ts'

/** `withSecrets` is only for backups by the operator, never for the API. */
export async function exportProject(
  db: Knex,
  actor: Actor,
  { project, withSecrets = false }: { project: Project; withSecrets?: boolean },
  { secrets }: Pick<OperationDeps, 'secrets'>,
): Promise<ConfigDocument> {
  const all = await listIntegrations(db, project.id)
  const integrations = all.filter((integration) => !needsSettings(integration, secrets))
  const checks = await listChecks(db, project.id)
  const ids = checks.map(({ id }) => id)
  const rules = await rulesOfChecks(db, ids)
  const sealed = withSecrets ? await findPingSecrets(db, ids) : new Map<number, string>()
  const policies = (await policiesOf(db, [project.id])).map(policyView)
  const schedules = await documentedSchedules(db, project)
  const windows = (await windowsOf(db, [project.id])).map(windowView).toReversed()
  const documented = (check: AssignedCheck) => {
    const secret = sealed.get(check.id)
    const opened = secret === undefined ? null : secrets.open('ping-secret', secret)
    const shown = toDocumentedRules(rules.get(check.id) ?? NO_RULES, opened)
    return { ...toDocumentedCheck(check), ...(shown && { rules: shown }) }
  }
  const document: ConfigDocument = {
    version: CONFIG_DOCUMENT_VERSION,
    channels: integrations.map((integration) => {
      const kind = findKind(integration.kind)
      const config = decryptConfig(integration, secrets)
      const shown = withSecrets ? config : kind ? shownConfig(kind, config) : {}
      return { id: integration.uuid, kind: integration.kind, name: integration.name, config: shown }
    }),
    checks: await mapYielding(checks, documented),
    ...(schedules.length > 0 && { schedules }),
    ...(policies.length > 0 && { policies }),
    ...(windows.length > 0 && { windows }),
  }
  // API keys are not audited: tools export every few minutes, and other requests return the same data.
  if (actor.kind === 'key' && !withSecrets) return document
  const target = withSecrets ? `${project.name}, with secrets` : project.name
  const { organisationId } = project
  await insertActorAudit(db, actor, { organisationId, action: 'project.exported', target })
  return document
}

async function documentedSchedules(db: Knex, project: Project) {
  const own = (await listSchedules(db, project)).filter(({ projectId }) => projectId === project.id)
  const overrides = await overridesOf(
    db,
    own.map(({ id }) => id),
    nowMicros(),
  )
  const of = Map.groupBy(overrides, ({ scheduleId }) => scheduleId)
  return own.map((schedule) => documentedSchedule(schedule, of.get(schedule.id) ?? []))
}

export type DocumentMember = 'channels' | 'checks' | 'schedules' | 'policies' | 'windows'

/** An omitted list is empty. @throws ValidationError */
export function entries(document: JsonObject, member: DocumentMember): JsonObject[] {
  if (document.version !== undefined && document.version !== CONFIG_DOCUMENT_VERSION) {
    throw new ValidationError('version must be a version that this service can read')
  }
  const list = document[member]
  if (list === undefined) return []
  if (!Array.isArray(list) || !list.every(isObject)) throw new ValidationError(`${member} is not an array of objects`)
  return list
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function identity(value: JsonValue | undefined, member: string): string {
  if (typeof value === 'string' && isUuid(value)) return value
  throw new ValidationError(`${member} is not a uuid; export with the read-write key`)
}

/** Adds the path of the entry to a ValidationError. */
export async function locating(where: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof ValidationError) throw new ValidationError(`${where}: ${error.message}`, error.errors)
    throw error
  }
}

/** @throws ValidationError if another project uses this uuid */
export async function insertAs(tx: Knex, what: string, insert: (savepoint: Knex) => Promise<unknown>): Promise<void> {
  try {
    await tx.transaction(insert)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === '23505')) throw error
    throw new ValidationError(`id cannot be used: give the ${what} a new uuid`)
  }
}
