import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { ValidationError } from '../../errors.ts'
import { acrossTenants } from '../../platform/database/tenant.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { createTimeSlices } from '../../platform/process/time-slices.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import { applySpec } from '../checks/settings.ts'
import { nameOf } from '../checks/slug.ts'
import { type AssignedCheck, findUsedUuids, listChecks, type UsedUuid } from '../checks/store.ts'
import type { ConfigObject } from '../integrations/shown-config.ts'
import { addressesToDo } from '../move-in/addresses.ts'
import type { Imported, ImportedCheck } from '../move-in/imported.ts'
import { type Documented, mergeSettings } from '../move-in/merge.ts'
import type { MoveInReport } from '../move-in/report.ts'
import { type ImportedSource, listSources } from '../move-in/store.ts'
import { findTakenTokens } from '../pings/push-store.ts'
import { toDocumentedCheck } from '../projects/config-document.ts'
import type { Project } from '../projects/store.ts'
import { parseSpec } from './check-changes.ts'
import type { OperationDeps } from './deps.ts'
import { planIntegrations } from './plan-integrations.ts'
import { mayUse } from './retired-uuid.ts'

export interface MoveInOptions {
  apply: boolean
  /** imports the other checks although some are in conflict */
  skipConflicts?: boolean
  /** takes the source where a setting was changed in both */
  overwrite?: boolean
  /** digest of the plan that was confirmed; another plan is not applied */
  confirmed?: string
  /** operators only: takes uuids that another organisation retired */
  reclaim?: boolean
  /** runs in the transaction of the import, to store keys of the source */
  also?: (tx: Knex.Transaction) => Promise<void>
}

export type MoveInDeps = Pick<OperationDeps, 'config' | 'secrets' | 'outbox' | 'announce' | 'now'>

export interface Planned {
  report: MoveInReport
  /** entries of the configuration document that makes the changes */
  entries: JsonObject[]
  /** created checks, by uuid */
  created: Map<string, ImportedCheck>
  /** settings of integrations to create or to complete, by id; empty or incomplete for those without settings */
  configs: Map<string, ConfigObject>
  /** states of the source to store */
  sources: { uuid: string; key: string; settings: Documented }[]
  /** group of the imports from this place */
  origin: string | null
}

/**
 * Compares checks of another monitor with the project. The caller has locked the project.
 */
export async function planMoveIn(
  tx: Knex,
  { project, actor, imported, options }: { project: Project; actor: Actor; imported: Imported; options: MoveInOptions },
  deps: MoveInDeps,
): Promise<Planned> {
  const { source } = imported
  const existing = new Map((await listChecks(tx, project.id)).map((check) => [check.uuid, check]))
  const sources = await listSources(tx, project.id, source)
  const bases = new Map(sources.map((row) => [row.key, row]))
  const known = originOf(sources, imported)
  const planned: Planned = {
    ...{ report: emptyReport(imported), entries: [], created: new Map(), configs: new Map(), sources: [] },
    origin: known === undefined ? randomUUID() : known,
  }
  const assignable = await planIntegrations(tx, project.id, { imported, planned }, deps)
  const uuidOf = (check: ImportedCheck) =>
    bases.get(check.key)?.uuid ?? check.uuid ?? derivedUuid(deps.secrets, project, source, check.key)
  const all = imported.checks.map((check) => ({ check, uuid: uuidOf(check) }))
  const uuids = all.map(({ uuid }) => uuid)
  const used = await acrossTenants(() => findUsedUuids(tx, uuids))
  const usedBy = new Map(used.map((row) => [row.uuid, row]))
  const seen = new Set<string>()
  const slices = createTimeSlices()
  for (const { check, uuid } of all) {
    await slices.yieldIfNeeded()
    const name = nameOf({ uuid, name: String(check.settings.name ?? '') })
    if (seen.has(uuid)) {
      planned.report.notTaken.push({ subject: name, reason: `the source has the check ${check.key} twice` })
      continue
    }
    seen.add(uuid)
    const theirs = documented(check, uuid, assignable)
    if (typeof theirs === 'string') {
      planned.report.notTaken.push({ subject: name, reason: theirs })
      continue
    }
    const isReclaimed = options.reclaim === true && usedBy.get(uuid)?.isRetired === true
    const isFree = isReclaimed || mayUse(usedBy.get(uuid), project.organisationId, deps.secrets)
    const current = existing.get(uuid)
    if (!current && !isFree) {
      planned.report.conflicts.push({ id: uuid, name, reason: usedReason(usedBy.get(uuid), project, actor) })
      continue
    }
    compare(planned, { check, uuid, name, theirs, current, base: bases.get(check.key)?.settings ?? null }, options)
    noteAddress(planned.report, { name, from: check.pingUrl, to: `${deps.config.publicUrl}/ping/${uuid}` })
  }
  await noteTakenTokens(tx, planned)
  planned.report.toDo.push(...sharedSlugs([...existing.values()], planned, seen))
  planned.report.gone = sources
    .filter(({ uuid, origin }) => origin === known && !seen.has(uuid))
    .map(({ uuid: id, name }) => ({ id, name }))
  const pingUrls = imported.checks.flatMap(({ pingUrl }) => pingUrl ?? [])
  const old = { pingUrls, changed: planned.report.addresses.map(({ from }) => from) }
  planned.report.toDo.push(...addressesToDo(old, deps.config.publicUrl))
  return planned
}

/**
 * Returns the origin of earlier imports with which this one has most checks in common, because a server can have several
 * addresses and keys; undefined if it has no check in common with any.
 */
function originOf(sources: readonly ImportedSource[], { checks }: Imported): string | null | undefined {
  const keys = new Set(checks.map(({ key }) => key))
  const counts = new Map<string | null, number>()
  for (const { key, origin } of sources) {
    if (keys.has(key)) counts.set(origin, (counts.get(origin) ?? 0) + 1)
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0]
}

/** Names the other project to operators and to members of its organisation, who see all of its projects. */
function usedReason(used: UsedUuid | undefined, { organisationId }: Project, actor: Actor): string {
  const maySee = actor.kind === 'operator' || (actor.kind === 'person' && used?.organisationId === organisationId)
  return maySee && used?.projectName != null
    ? `the uuid belongs to a check of the project ${used.projectName}`
    : 'the uuid belongs to a check of another project or to a deleted check'
}

/** Lists slugs that several checks have after the import; a ping by such a slug is refused. */
function sharedSlugs(
  existing: readonly AssignedCheck[],
  { entries }: Planned,
  imported: ReadonlySet<string>,
): string[] {
  const slugs = new Map(existing.map(({ uuid, slug }) => [uuid, slug]))
  for (const { uuid, slug } of entries) if (typeof slug === 'string') slugs.set(String(uuid), slug)
  const uuids = Map.groupBy(slugs.keys(), (uuid) => slugs.get(uuid) ?? '')
  return [...uuids].flatMap(([slug, users]) => {
    if (slug === '' || users.length === 1 || !users.some((uuid) => imported.has(uuid))) return []
    return [`give other slugs to checks: ${users.length} checks share the slug ${slug}, so pings by this slug get 409`]
  })
}

/** Lists push addresses that another check has; they stay with that check. */
async function noteTakenTokens(tx: Knex, { report, created }: Planned): Promise<void> {
  const tokens = [...created.values()].flatMap(({ pushToken }) => pushToken ?? [])
  const taken = tokens.length === 0 ? [] : await acrossTenants(() => findTakenTokens(tx, tokens))
  for (const { pushToken, settings } of created.values()) {
    if (pushToken === undefined || !taken.includes(pushToken)) continue
    report.notTaken.push({ subject: `push address of ${settings.name}`, reason: 'another check has it' })
  }
}

function emptyReport({ source, notTaken, toDo }: Imported): MoveInReport {
  return {
    source,
    applied: false,
    create: [],
    update: [],
    unchanged: 0,
    kept: [],
    conflicts: [],
    gone: [],
    integrations: [],
    configured: [],
    notTaken: [...notTaken],
    toDo: [...toDo],
    addresses: [],
  }
}

interface Compared {
  check: ImportedCheck
  uuid: string
  name: string
  theirs: Documented
  current: AssignedCheck | undefined
  base: Documented | null
}

function compare(
  planned: Planned,
  { check, uuid, name, theirs, current, base }: Compared,
  options: MoveInOptions,
): void {
  const { report, entries, created, sources } = planned
  if (!current) {
    report.create.push({ id: uuid, name, paused: check.isPaused, ...scheduleIn(theirs) })
    entries.push(entryOf({ ...theirs, uuid, ...rulesOf(check) }))
    created.set(uuid, check)
    sources.push({ uuid, key: check.key, settings: theirs })
    return
  }
  const ours = toDocumentedCheck(current)
  const merged = mergeSettings({ base, theirs, ours }, options.overwrite === true)
  const isConflict = Object.keys(merged.conflicts).length > 0
  if (isConflict) {
    const reason = base === null ? 'the project has a different check with this uuid' : 'changed here and in the source'
    report.conflicts.push({ id: uuid, name, reason, changes: merged.conflicts })
    return
  }
  if (Object.keys(merged.kept).length > 0) report.kept.push({ id: uuid, name, changes: merged.kept })
  if (Object.keys(merged.changes).length > 0) {
    report.update.push({ id: uuid, name, changes: merged.changes })
    entries.push(entryOf({ ...merged.wanted, uuid }))
  } else report.unchanged += 1
  sources.push({ uuid, key: check.key, settings: theirs })
}

function scheduleIn({ timeout, schedule, tz, grace }: Documented) {
  return {
    ...(typeof timeout === 'number' && { timeout }),
    ...(typeof schedule === 'string' && { schedule }),
    ...(typeof tz === 'string' && { tz }),
    grace: Number(grace),
  }
}

function rulesOf({ rules }: ImportedCheck): { rules?: JsonObject } {
  return rules ? { rules: entryOf({ run: entryOf(rules.run) }) } : {}
}

/** Returns the settings of the source as this service would store them, or the reason why it cannot. */
function documented(check: ImportedCheck, uuid: string, assignable: ReadonlySet<string>): Documented | string {
  try {
    const integrations = check.channels?.filter((id) => assignable.has(id))
    const settings = applySpec(null, parseSpec(entryOf(check.settings)), { slugFromName: false })
    const all = toDocumentedCheck({ ...settings, uuid, integrationIds: integrations ?? [] })
    const named = new Set([...Object.keys(check.settings), ...(integrations ? ['channels'] : []), ...RENAMED])
    return Object.fromEntries(Object.entries(all).filter(([name]) => named.has(name)))
  } catch (error) {
    if (error instanceof ValidationError) return error.message.replace(/^json validation error: /, '')
    throw error
  }
}

/** The source may describe them by other members. */
const RENAMED = ['success_kw', 'failure_kw', 'filter_subject']

function entryOf(members: Readonly<Record<string, unknown>>): JsonObject {
  return Object.assign(Object.create(null), members as Readonly<Record<string, JsonValue>>) // settings are JSON scalars
}

/** Returns a uuid that stays the same for every import, but that no one can derive without SECRET_KEY. */
export function derivedUuid(secrets: Pick<Secrets, 'digest'>, { uuid }: Project, source: string, key: string): string {
  const hex = secrets.digest(`import ${uuid} ${source} ${key}`).toString('hex')
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4)
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`]
  return [...parts, hex.slice(20, 32)].join('-')
}

function noteAddress(report: MoveInReport, { name, from, to }: { name: string; from: string | undefined; to: string }) {
  if (from === undefined || !URL.canParse(from)) return
  if (new URL(from).pathname !== new URL(to).pathname) report.addresses.push({ name, from, to })
}
