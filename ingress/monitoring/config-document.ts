import type { Knex } from 'knex'
import { ForbiddenError, ValidationError } from '#shared/errors.ts'
import { findKind } from '#shared/monitoring/channels/kinds.ts'
import { shownConfig, withStoredSecrets } from '#shared/monitoring/channels/shown-config.ts'
import { insertChannel, listChannels, type StoredChannel, updateChannel } from '#shared/monitoring/channels/store.ts'
import type { JsonObject, JsonValue } from '#shared/monitoring/checks/json-body.ts'
import { plainJson } from '#shared/monitoring/checks/plain-json.ts'
import { applySpec } from '#shared/monitoring/checks/settings.ts'
import { goingDownAt } from '#shared/monitoring/checks/status.ts'
import {
  assignChannels,
  countChecks,
  insertCheck,
  isFreeUuid,
  listChecks,
  lockCheck,
  updateSettings,
} from '#shared/monitoring/checks/store.ts'
import { parseSpec } from '#shared/monitoring/operations/check-changes.ts'
import { checkConfig, checkName, openConfig, requireKind } from '#shared/monitoring/operations/integration-config.ts'
import { type Asked, askRecipients, knownRecipients, recipientOf } from '#shared/monitoring/operations/recipients.ts'
import {
  CONFIG_DOCUMENT_VERSION,
  type ConfigDocument,
  changedSettings,
  type ImportReport,
  toDocumentedCheck,
} from '#shared/monitoring/projects/config-document.ts'
import { noteCheckLimit } from '#shared/monitoring/projects/quota-store.ts'
import { lockProject, type Project } from '#shared/monitoring/projects/store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import type { Enqueue, Outbox } from '#shared/platform/broker/outbox.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { acrossTenants } from '#shared/platform/database/tenant.ts'
import type { Config } from '#shared/platform/process/config.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import { createTurns, mapInTurns } from '#shared/platform/process/turns.ts'
import { isUuid } from '#shared/uuid.ts'

export interface DocumentDeps {
  db: Knex
  secrets: Secrets
  config: Pick<Config, 'allowPrivateTargets' | 'checkLimit' | 'publicUrl' | 'siteName' | 'smtpUrl'>
  /** null for the operator's command line, which vouches for the addresses of e-mail integrations */
  outbox: Pick<Outbox, 'run'> | null
}

/** The configuration of a project as a document. @param withSecrets for backups by the operator; never by the API */
export async function exportProject(
  { db, secrets }: Pick<DocumentDeps, 'db' | 'secrets'>,
  project: Pick<Project, 'id'>,
  withSecrets = false,
): Promise<ConfigDocument> {
  const channels = await listChannels(db, project.id)
  const checks = await listChecks(db, project.id)
  return {
    version: CONFIG_DOCUMENT_VERSION,
    channels: channels.map((channel) => {
      const kind = findKind(channel.kind)
      const config = openConfig(channel, secrets)
      const shown = withSecrets ? config : kind ? shownConfig(kind, config) : {}
      return { id: channel.uuid, kind: channel.kind, name: channel.name, config: shown }
    }),
    checks: await mapInTurns(checks, toDocumentedCheck),
  }
}

/**
 * Compares a document with the project and, when asked to, makes the project agree with it: all of it or nothing.
 * Identities are kept, what the document does not name stays, and applying it again changes nothing. Also reads the
 * list of checks as the API answers it, which is how checks move here from another service with this API.
 * @returns the report, and the checks whose cached copies are to be forgotten
 * @throws ValidationError that says which entry is wrong, ForbiddenError beyond the limit of checks
 */
export async function importProject(
  deps: DocumentDeps,
  project: Project,
  document: JsonObject,
  apply: boolean,
): Promise<{ report: ImportReport; touched: string[] }> {
  if (document.checks === undefined && document.channels === undefined) {
    throw new ValidationError('the document holds neither checks nor channels')
  }
  const run = async (tx: Knex.Transaction, enqueue: Enqueue | null) => {
    await lockProject(tx, project.id)
    const touched: string[] = []
    const asked: Asked[] = []
    const isKnown = enqueue ? await knownRecipients({ ...deps, db: tx }, project.id) : () => true
    const consent = { isKnown, asked }
    const channels = await importChannels(tx, deps, project, entries(document, 'channels'), { apply, consent })
    if (apply && enqueue) await askRecipients(tx, enqueue, deps, project.id, asked)
    const known = new Set([
      ...(await listChannels(tx, project.id)).map(({ uuid }) => uuid),
      ...channels.create.map(({ id }) => id),
    ])
    const unknown = new Set<string>()
    const checks = await importChecks(tx, deps, project, entries(document, 'checks'), {
      apply,
      known,
      unknown,
      touched,
    })
    return { report: { applied: apply, channels, checks, unknownChannels: [...unknown] }, touched }
  }
  try {
    return deps.outbox ? await deps.outbox.run(run) : await transaction(deps.db, (tx) => run(tx, null))
  } catch (error) {
    const limit = project.checkLimit ?? deps.config.checkLimit
    if (apply && error instanceof ForbiddenError) await noteCheckLimit(deps.db, project.id, limit)
    throw error
  }
}

type Changes = ImportReport['channels']

async function importChannels(
  tx: Knex,
  deps: DocumentDeps,
  project: Project,
  listed: readonly JsonObject[],
  { apply, consent }: { apply: boolean; consent: { isKnown: (address: string) => boolean; asked: Asked[] } },
): Promise<Changes> {
  const report: Changes = { create: [], update: [], unchanged: 0 }
  const existing = new Map((await listChannels(tx, project.id)).map((channel) => [channel.uuid, channel]))
  // Names are looked up when something is sent; an import must not wait for anybody's name server.
  const rules = { db: tx, config: deps.config, resolve: async () => [] }
  const turns = createTurns()
  for (const [index, entry] of listed.entries()) {
    await turns.rest()
    await locating(`channels[${index}]`, async () => {
      const id = identity(entry.id, 'id')
      const current = existing.get(id)
      const kind = requireKind(entry.kind)
      const name = checkName(entry.name ?? '')
      const stored = current ? openConfig(current, deps.secrets) : {}
      const config = await checkConfig(rules, project.id, kind, withStoredSecrets(kind, configOf(entry), stored))
      const sealedConfig = deps.secrets.seal(JSON.stringify(config))
      const address = config.value === stored.value ? null : recipientOf(kind.kind, config)
      const isEmailVerified = address === null || consent.isKnown(address)
      if (!isEmailVerified) consent.asked.push({ uuid: id, address })
      if (!current) {
        report.create.push({ id, name })
        const created = { projectId: project.id, kind: kind.kind, name, sealedConfig, uuid: id, isEmailVerified }
        if (apply) await createChannel(tx, created)
        return
      }
      if (current.kind !== kind.kind) throw new ValidationError('kind cannot be changed')
      const changes = channelChanges(current, name, JSON.stringify(stored) === JSON.stringify(config))
      if (Object.keys(changes).length === 0) {
        report.unchanged += 1
        return
      }
      report.update.push({ id, name, changes })
      if (apply)
        await updateChannel(tx, current.id, { name, sealedConfig, ...(address !== null && { isEmailVerified }) })
    })
  }
  return report
}

async function createChannel(tx: Knex, channel: Parameters<typeof insertChannel>[1]): Promise<void> {
  const taken = await tx.transaction(async (savepoint) => await insertChannel(savepoint, channel)).catch(isTaken)
  if (taken === null) throw new ValidationError('id cannot be used')
}

function channelChanges(current: StoredChannel, name: string, sameConfig: boolean) {
  return {
    ...(current.name !== name && { name: { from: current.name, to: name } }),
    // The values may be secret: that they differ is all that is said.
    ...(!sameConfig && { config: { from: '(stored)', to: '(given)' } }),
  }
}

interface CheckImport {
  apply: boolean
  known: ReadonlySet<string>
  unknown: Set<string>
  touched: string[]
}

async function importChecks(
  tx: Knex,
  deps: DocumentDeps,
  project: Project,
  listed: readonly JsonObject[],
  { apply, known, unknown, touched }: CheckImport,
): Promise<Changes> {
  const report: Changes = { create: [], update: [], unchanged: 0 }
  const existing = new Map((await listChecks(tx, project.id)).map((check) => [check.uuid, check]))
  const turns = createTurns()
  for (const [index, entry] of listed.entries()) {
    await turns.rest()
    await locating(`checks[${index}]`, async () => {
      const uuid = identity(entry.uuid, 'uuid')
      const spec = parseSpec(entry)
      const named = spec.channels === undefined ? null : spec.channels.split(',').filter((id) => id !== '')
      for (const id of named ?? []) if (!known.has(id)) unknown.add(id)
      const channelIds = named?.filter((id) => known.has(id)) ?? null
      const current = existing.get(uuid)
      if (!current) {
        // One answer for another project's and for a deleted check's: neither may be told from the other.
        if (!(await acrossTenants(() => isFreeUuid(tx, uuid)))) throw new ValidationError('uuid cannot be used')
        report.create.push({ id: uuid, name: spec.name ?? '' })
        if (!apply) return
        const created = await insertCheck(tx, project.id, applySpec(null, spec, { slugFromName: false }), { uuid })
        await assignChannels(tx, created, channelIds ?? [])
        touched.push(uuid)
        return
      }
      const wanted = applySpec(current, spec, { slugFromName: false })
      const changes = { ...changedSettings(current, wanted), ...assignmentChanges(current.channelIds, channelIds) }
      if (Object.keys(changes).length === 0) {
        report.unchanged += 1
        return
      }
      report.update.push({ id: uuid, name: spec.name ?? current.name, changes })
      if (!apply) return
      const locked = await lockCheck(tx, project.id, uuid)
      if (!locked) return
      await updateSettings(tx, locked.id, wanted, goingDownAt({ ...locked, ...wanted }, nextOccurrence))
      if (channelIds) await assignChannels(tx, locked, channelIds)
      touched.push(uuid)
    })
  }
  const limit = project.checkLimit ?? deps.config.checkLimit
  const total = (await countChecks(tx, project.id)) + (apply ? 0 : report.create.length)
  if (report.create.length > 0 && total > limit) throw new ForbiddenError('')
  return report
}

function assignmentChanges(current: readonly string[], wanted: readonly string[] | null) {
  if (wanted === null) return {}
  const [from, to] = [current, wanted].map((ids) => ids.toSorted().join(','))
  return from === to ? {} : { channels: { from, to } }
}

function entries(document: JsonObject, member: 'channels' | 'checks'): JsonObject[] {
  if (document.version !== undefined && document.version !== CONFIG_DOCUMENT_VERSION) {
    throw new ValidationError('version is not one that can be read')
  }
  const list = document[member]
  if (list === undefined) return []
  if (!Array.isArray(list) || !list.every(isObject)) throw new ValidationError(`${member} is not an array of objects`)
  return list
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function identity(value: JsonValue | undefined, member: string): string {
  if (typeof value === 'string' && isUuid(value)) return value
  throw new ValidationError(`${member} is not a uuid; export with the read-write key`)
}

function configOf(entry: JsonObject): Readonly<Record<string, unknown>> {
  const config = plainJson(entry.config ?? null)
  if (typeof config !== 'object' || config === null) throw new ValidationError('config is not an object')
  return { ...config }
}

/** Says in which entry of the document something is wrong. */
async function locating(where: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof ValidationError) throw new ValidationError(`${where}: ${error.message}`, error.errors)
    throw error
  }
}

/** A unique violation becomes null; anything else goes on. */
function isTaken(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === '23505') return null
  throw error
}
