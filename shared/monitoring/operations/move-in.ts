import type { Knex } from 'knex'
import { ValidationError } from '../../errors.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { pause } from '../checks/state-machine.ts'
import { lockCheck, updateState } from '../checks/store.ts'
import { insertHistoricFlip } from '../flips/store.ts'
import { email } from '../integrations/kinds/other.ts'
import { findKind } from '../integrations/kinds.ts'
import { findIntegration, insertIntegration, updateIntegrationRow } from '../integrations/store.ts'
import { type Imported, MAX_IMPORTED, type Source } from '../move-in/imported.ts'
import type { MoveInReport } from '../move-in/report.ts'
import { planDigest } from '../move-in/report.ts'
import { listSources, saveSources, takeBadgeKeys } from '../move-in/store.ts'
import { takePushTokens } from '../pings/push-store.ts'
import { lockProject, type Project } from '../projects/store.ts'
import { notingLimit } from './check-changes.ts'
import { inTransaction, type OperationDeps } from './deps.ts'
import { insertAs } from './export-project.ts'
import { importInto } from './import-project.ts'
import { derivedUuid, type MoveInDeps, type MoveInOptions, type Planned, planMoveIn } from './plan-move-in.ts'

/**
 * Compares checks of another monitor with the project and, if `apply` is set, imports them in one transaction through the
 * import of configuration documents. Deletes nothing. Checks are created `new` or paused, so nothing is sent.
 * @returns the plan; `applied` is false if conflicts or another plan than the confirmed one prevented the import
 * @throws ValidationError above MAX_IMPORTED checks, ForbiddenError beyond the limit of checks
 */
export async function moveIn(
  db: Knex,
  actor: Actor,
  { project, imported, options }: { project: Project; imported: Imported; options: MoveInOptions },
  deps: MoveInDeps,
): Promise<MoveInReport> {
  if (imported.checks.length > MAX_IMPORTED) throw new ValidationError(`more than ${MAX_IMPORTED} checks`)
  let touched: readonly string[] = []
  const run = () =>
    inTransaction(db, deps, async (tx, enqueue) => {
      touched = []
      await lockProject(tx, project.id)
      const planned = await planMoveIn(tx, { project, actor, imported, options }, deps)
      const { report } = planned
      const isConfirmed = options.confirmed === undefined || options.confirmed === planDigest(report)
      const isPermitted = report.conflicts.length === 0 || options.skipConflicts === true
      const isApplied = options.apply && isConfirmed && isPermitted
      if (isApplied) await createIntegrations(tx, actor, { project, imported, planned }, deps)
      if (planned.entries.length > 0) {
        const document: JsonObject = Object.assign(Object.create(null), { checks: planned.entries })
        const input = { project, document, apply: isApplied, reclaim: options.reclaim === true }
        const result = await importInto(tx, enqueue, actor, input, deps)
        touched = result.touched
      }
      if (isApplied) {
        await finish(tx, project.id, imported.source, planned, deps)
        await options.also?.(tx)
      }
      return { ...report, applied: isApplied }
    })
  const report = await (options.apply ? notingLimit(db, project, deps, run) : run())
  for (const uuid of touched) deps.announce({ kind: 'check', uuid, projectId: project.id })
  return report
}

/** Creates the integrations. Those without settings are switched off, so that they send nothing. */
async function createIntegrations(
  tx: Knex.Transaction,
  actor: Actor,
  { project, imported, planned }: { project: Project; imported: Imported; planned: Planned },
  { secrets }: MoveInDeps,
) {
  const { report, configs } = planned
  const configured = new Set(report.configured)
  for (const integration of [...report.integrations, ...report.configured]) {
    const { id, kind, name } = integration
    const settings = imported.settings?.[id]
    const isEmailVerified = settings?.isEmailVerified ?? true
    const disabled = !configured.has(integration) || settings?.isDisabled === true
    const sealedConfig = secrets.seal('integration', JSON.stringify(configs.get(id) ?? {}))
    const existing = await findIntegration(tx, project.id, id)
    if (existing) await updateIntegrationRow(tx, existing.id, { sealedConfig, disabled, isEmailVerified })
    else {
      const created = { projectId: project.id, kind, name: name.slice(0, 100), sealedConfig, uuid: id, isEmailVerified }
      await insertAs(tx, 'integration', async (savepoint) => {
        const row = await insertIntegration(savepoint, created)
        if (disabled) await updateIntegrationRow(savepoint, row.id, { disabled })
      })
    }
    if (!configured.has(integration)) continue
    const confirmed = kind === email.kind && isEmailVerified ? ', recipient confirmed in the other service' : ''
    const target = `${name} (${findKind(kind)?.label ?? kind})${confirmed}`
    const { organisationId } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'integration.imported', target })
  }
}

async function finish(
  tx: Knex,
  projectId: number,
  source: Source,
  { created, sources, origin }: Planned,
  { now }: MoveInDeps,
): Promise<void> {
  const badgeKeys: { uuid: string; badgeKey: string }[] = []
  const tokens: { uuid: string; token: string }[] = []
  for (const [uuid, { isPaused, badgeKey, pushToken }] of created) {
    if (badgeKey !== undefined) badgeKeys.push({ uuid, badgeKey })
    if (pushToken !== undefined) tokens.push({ uuid, token: pushToken })
    const check = isPaused ? await lockCheck(tx, projectId, uuid) : null
    const flip = check && pause(check)
    if (!check || !flip) continue
    await updateState(tx, check)
    await insertHistoricFlip(tx, check.id, flip, now())
  }
  await takeBadgeKeys(tx, projectId, badgeKeys)
  await takePushTokens(tx, projectId, tokens)
  await saveSources(tx, projectId, { source, origin, rows: sources })
}

/** Returns the ping URLs of imported checks by their keys, except of checks in conflict. */
export async function pingUrls(
  db: Knex,
  { project, imported, report }: { project: Project; imported: Imported; report: MoveInReport },
  { config, secrets }: Pick<OperationDeps, 'config' | 'secrets'>,
): Promise<Map<string, string>> {
  const bases = new Map((await listSources(db, project.id, imported.source)).map(({ key, uuid }) => [key, uuid]))
  const conflicts = new Set(report.conflicts.map(({ id }) => id))
  return new Map(
    imported.checks.flatMap(({ key, uuid: given }) => {
      const uuid = bases.get(key) ?? given ?? derivedUuid(secrets, project, imported.source, key)
      return conflicts.has(uuid) ? [] : [[key, `${config.publicUrl}/ping/${uuid}`] as const]
    }),
  )
}
