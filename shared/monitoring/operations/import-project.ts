import type { Knex } from 'knex'
import { ForbiddenError, ValidationError } from '../../errors.ts'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import { acrossTenants } from '../../platform/database/tenant.ts'
import { createTimeSlices } from '../../platform/process/time-slices.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { canonicalJson } from '../checks/canonical-json.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { applySpec } from '../checks/settings.ts'
import {
  assignIntegrations,
  countChecks,
  findUsedUuids,
  insertCheck,
  listChecks,
  lockCheck,
  reviveUuids,
  updateSettings,
} from '../checks/store.ts'
import { requireTagCapacity } from '../checks/tags.ts'
import { withStoredSecrets } from '../integrations/shown-config.ts'
import {
  insertIntegration,
  listIntegrations,
  type StoredIntegration,
  updateIntegrationRow,
} from '../integrations/store.ts'
import { changedSettings, type ImportReport } from '../projects/config-document.ts'
import { lockProject, type Project } from '../projects/store.ts'
import { nextOccurrence } from '../schedules/schedule.ts'
import { checkLimitOf, notingLimit, parseSpec } from './check-changes.ts'
import { inTransaction, type OperationDeps } from './deps.ts'
import { type DocumentMember, entries, identity, insertAs, locating } from './export-project.ts'
import { importAlerting } from './import-all-alerting.ts'
import { checkConfig, checkName, decryptConfig, requireKind } from './integration-config.ts'
import { knownRecipients, type Requested, recipientOf, requestRecipients } from './recipients.ts'
import { mayUse } from './retired-uuid.ts'
import { deadlineOf } from './rule-deadline.ts'

/** One text for all cases, so that it does not reveal checks of other projects. */
const UUID_NOT_FREE =
  'uuid cannot be used: it belongs to a check of another project or to a deleted check; give the check a new uuid'

type ImportDeps = Pick<OperationDeps, 'config' | 'secrets' | 'outbox' | 'announce'>

/**
 * Idempotent; keeps uuids and deletes nothing. Also accepts the list of checks of the v3 API, to move checks from
 * another service. Returns the differences before the import. @throws ValidationError with the path of the first
 * invalid entry, ForbiddenError at the limit of checks, after which the owners get a mail
 */
export async function importProject(
  db: Knex,
  actor: Actor,
  { project, document, apply }: { project: Project; document: JsonObject; apply: boolean },
  deps: ImportDeps,
): Promise<ImportReport> {
  const lists: DocumentMember[] = ['channels', 'checks', 'schedules', 'policies', 'windows']
  if (lists.every((member) => document[member] === undefined)) {
    throw new ValidationError('the document must contain checks, channels, schedules, policies or windows')
  }
  const run = (tx: Knex.Transaction, enqueue: Enqueue | null) =>
    importInto(tx, enqueue, actor, { project, document, apply }, deps)
  const imported = () => inTransaction(db, deps, run)
  const { report, touched } = await (apply ? notingLimit(db, project, deps, imported) : imported())
  for (const uuid of touched) deps.announce({ kind: 'check', uuid, projectId: project.id })
  return report
}

/**
 * Does the same in the transaction of the caller, which announces the touched checks after the commit.
 * @param input.reclaim also creates checks with uuids that another organisation retired
 */
export async function importInto(
  tx: Knex.Transaction,
  enqueue: Enqueue | null,
  actor: Actor,
  {
    project,
    document,
    apply,
    reclaim = false,
  }: { project: Project; document: JsonObject; apply: boolean; reclaim?: boolean },
  deps: ImportDeps,
): Promise<{ report: ImportReport; touched: string[] }> {
  await lockProject(tx, project.id)
  const touched: string[] = []
  const requested: Requested[] = []
  const isKnown = enqueue ? await knownRecipients({ ...deps, db: tx }, project.id) : () => true
  const consent = { isKnown, requested }
  const integrations = await importIntegrations(tx, deps, project, entries(document, 'channels'), { apply, consent })
  if (apply && enqueue) await requestRecipients(tx, enqueue, deps, project.id, requested)
  const known = new Set([
    ...(await listIntegrations(tx, project.id)).map(({ uuid }) => uuid),
    ...integrations.create.map(({ id }) => id),
  ])
  const unknown = new Set<string>()
  const importing = { apply, known, unknown, touched, reclaim }
  const checks = await importChecks(tx, deps, project, entries(document, 'checks'), importing)
  const alerting = await importAlerting(
    tx,
    deps,
    { project, actor, document, apply },
    { integrations, checks, touched },
  )
  const report: ImportReport = {
    applied: apply,
    channels: integrations,
    checks,
    ...alerting,
    unknownIntegrations: [...unknown],
  }
  if (apply) await auditImport(tx, actor, project, report)
  return { report, touched }
}

async function auditImport(
  tx: Knex,
  actor: Actor,
  { name, organisationId }: Project,
  { checks }: ImportReport,
): Promise<void> {
  const target = `${name}: ${checks.create.length} checks created, ${checks.update.length} changed`
  await insertActorAudit(tx, actor, { organisationId, action: 'project.imported', target })
}

type Changes = ImportReport['channels']

async function importIntegrations(
  tx: Knex,
  deps: ImportDeps,
  project: Project,
  listed: readonly JsonObject[],
  { apply, consent }: { apply: boolean; consent: { isKnown: (address: string) => boolean; requested: Requested[] } },
): Promise<Changes> {
  const report: Changes = { create: [], update: [], unchanged: 0 }
  const existing = new Map(
    (await listIntegrations(tx, project.id)).map((integration) => [integration.uuid, integration]),
  )
  // No DNS lookups during an import; each delivery checks the address again.
  const rules = { db: tx, config: deps.config, resolve: async () => [] }
  const slices = createTimeSlices()
  for (const [index, entry] of listed.entries()) {
    await slices.yieldIfNeeded()
    await locating(`channels[${index}]`, async () => {
      const id = identity(entry.id, 'id')
      const current = existing.get(id)
      const kind = requireKind(entry.kind)
      const name = checkName(entry.name ?? '')
      const stored = current ? decryptConfig(current, deps.secrets) : {}
      const config = await checkConfig(rules, project.id, kind, withStoredSecrets(kind, configOf(entry), stored))
      const sealedConfig = deps.secrets.seal('integration', JSON.stringify(config))
      const address = config.value === stored.value ? null : recipientOf(kind.kind, config)
      const isEmailVerified = address === null || consent.isKnown(address)
      if (!isEmailVerified) consent.requested.push({ uuid: id, address })
      if (!current) {
        report.create.push({ id, name })
        const created = { projectId: project.id, kind: kind.kind, name, sealedConfig, uuid: id, isEmailVerified }
        if (apply) await insertAs(tx, 'integration', (savepoint) => insertIntegration(savepoint, created))
        return
      }
      if (current.kind !== kind.kind) throw new ValidationError('kind cannot be changed')
      const changes = integrationChanges(current, name, JSON.stringify(stored) === JSON.stringify(config))
      if (Object.keys(changes).length === 0) {
        report.unchanged += 1
        return
      }
      report.update.push({ id, name, changes })
      if (apply)
        await updateIntegrationRow(tx, current.id, { name, sealedConfig, ...(address !== null && { isEmailVerified }) })
    })
  }
  return report
}

function integrationChanges(current: StoredIntegration, name: string, sameConfig: boolean) {
  return {
    ...(current.name !== name && { name: { from: current.name, to: name } }),
    // The values may be secret, so the report only shows that they differ.
    ...(!sameConfig && { config: { from: '(stored)', to: '(given)' } }),
  }
}

interface CheckImport {
  apply: boolean
  known: ReadonlySet<string>
  unknown: Set<string>
  touched: string[]
  reclaim: boolean
}

async function importChecks(
  tx: Knex,
  deps: ImportDeps,
  project: Project,
  listed: readonly JsonObject[],
  { apply, known, unknown, touched, reclaim }: CheckImport,
): Promise<Changes> {
  const report: Changes = { create: [], update: [], unchanged: 0 }
  const existing = new Map((await listChecks(tx, project.id)).map((check) => [check.uuid, check]))
  const tagsAfter = new Map([...existing.values()].map(({ uuid, tags }) => [uuid, tags]))
  const slices = createTimeSlices()
  for (const [index, entry] of listed.entries()) {
    await slices.yieldIfNeeded()
    await locating(`checks[${index}]`, async () => {
      const uuid = identity(entry.uuid, 'uuid')
      const spec = parseSpec(entry)
      const named = spec.channels === undefined ? null : spec.channels.split(',').filter((id) => id !== '')
      for (const id of named ?? []) if (!known.has(id)) unknown.add(id)
      const integrationIds = named?.filter((id) => known.has(id)) ?? null
      const current = existing.get(uuid)
      if (spec.tags !== undefined) tagsAfter.set(uuid, spec.tags)
      if (!current) {
        const [used] = await acrossTenants(() => findUsedUuids(tx, [uuid]))
        const isFree = mayUse(used, project.organisationId, deps.secrets) || (reclaim && used?.isRetired === true)
        if (!isFree) throw new ValidationError(UUID_NOT_FREE)
        const settings = applySpec(null, spec, { slugFromName: false })
        report.create.push({ id: uuid, name: spec.name ?? '' })
        if (!apply) return
        if (used) await reviveUuids(tx, [uuid])
        const created = await insertCheck(tx, project.id, settings, { uuid })
        await assignIntegrations(tx, created, integrationIds ?? [])
        touched.push(uuid)
        return
      }
      const wanted = applySpec(current, spec, { slugFromName: false })
      const changes = {
        ...changedSettings(current, wanted),
        ...assignmentChanges(current.integrationIds, integrationIds),
      }
      if (Object.keys(changes).length === 0) {
        report.unchanged += 1
        return
      }
      report.update.push({ id: uuid, name: spec.name ?? current.name, changes })
      if (!apply) return
      const locked = await lockCheck(tx, project.id, uuid)
      if (!locked) return
      await updateSettings(tx, locked.id, wanted, await deadlineOf(tx, { ...locked, ...wanted }, nextOccurrence))
      if (integrationIds) await assignIntegrations(tx, locked, integrationIds)
      touched.push(uuid)
    })
  }
  requireTagCapacity(
    [...existing.values()].map(({ tags }) => tags),
    tagsAfter.values(),
  )
  const total = (await countChecks(tx, project.id)) + (apply ? 0 : report.create.length)
  if (report.create.length > 0 && total > checkLimitOf(project, deps)) {
    throw new ForbiddenError('The project would exceed its limit of checks.')
  }
  return report
}

function assignmentChanges(current: readonly string[], wanted: readonly string[] | null) {
  if (wanted === null) return {}
  const [from, to] = [current, wanted].map((ids) => ids.toSorted().join(','))
  return from === to ? {} : { channels: { from, to } }
}

function configOf(entry: JsonObject): Readonly<Record<string, unknown>> {
  const config = canonicalJson(entry.config ?? null)
  if (typeof config !== 'object' || config === null) throw new ValidationError('config is not an object')
  return { ...config }
}
