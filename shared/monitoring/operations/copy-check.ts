import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { Check } from '../checks/check.ts'
import { type AssignedCheck, assignIntegrations, insertCheck } from '../checks/store.ts'
import { lockProject, type Project } from '../projects/store.ts'
import { auditCheck } from './check-changes.ts'
import { notingLimit, requireCapacity } from './check-limit.ts'
import type { OperationDeps } from './deps.ts'

/**
 * Makes a new check with the same settings and integrations; its pings and its addresses are its own.
 * @throws ForbiddenError when the project has as many checks as it may, which is noted for its owners
 */
export async function copyCheck(
  db: Knex,
  actor: Actor,
  { project, check }: { project: Project; check: AssignedCheck },
  deps: Pick<OperationDeps, 'config' | 'announce'>,
): Promise<Check> {
  const store = async (tx: Knex) => {
    await lockProject(tx, project.id)
    await requireCapacity(tx, project, deps)
    const copied = await insertCheck(tx, project.id, {
      ...settingsOf(check),
      name: `${check.name} (copy)`.slice(0, 100),
      // Two checks with one slug could not be told apart by it.
      slug: check.slug === '' ? '' : `${check.slug.slice(0, 95)}-copy`,
    })
    await assignIntegrations(tx, copied, check.integrationIds)
    await auditCheck(tx, actor, project, 'check.copied', check)
    return copied
  }
  const made = await notingLimit(db, project, deps, () => transaction(db, store))
  deps.announce({ kind: 'check', uuid: made.uuid, projectId: project.id })
  return made
}

function settingsOf(check: AssignedCheck) {
  return {
    tags: check.tags,
    desc: check.desc,
    kind: check.kind,
    timeoutSeconds: check.timeoutSeconds,
    graceSeconds: check.graceSeconds,
    schedule: check.schedule,
    tz: check.tz,
    manualResume: check.manualResume,
    methods: check.methods,
    startKw: check.startKw,
    successKw: check.successKw,
    failureKw: check.failureKw,
    filterSubject: check.filterSubject,
    filterBody: check.filterBody,
    filterHttpBody: check.filterHttpBody,
    filterDefaultFail: check.filterDefaultFail,
  }
}
