import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { Micros } from '../../time.ts'
import { lockCheck } from '../checks/store.ts'
import { expectFirstPings, listArrived } from '../move-in/store.ts'
import { lockProject, type Project } from '../projects/store.ts'
import { nextOccurrence } from '../schedules/schedule.ts'
import type { OperationDeps } from './deps.ts'
import { deadlineOf } from './rule-deadline.ts'

/**
 * Expects the first pings of imported checks from now on: their deadlines are those after a success at this instant. A
 * check stays `new` until a ping or its deadline. Checks that are watched already keep their deadlines.
 * @returns the number of checks
 */
export async function startWatching(
  db: Knex,
  actor: Actor,
  project: Project,
  { now, announce }: Pick<OperationDeps, 'now' | 'announce'>,
): Promise<number> {
  const uuids = await transaction(db, async (tx) => {
    await lockProject(tx, project.id)
    const silent = (await listArrived(tx, project.id)).filter(
      ({ status, isHeard, isWatched }) => status === 'new' && !isHeard && !isWatched,
    )
    const from = now()
    const started: { id: number; uuid: string; alertAfter: Micros | null }[] = []
    for (const { uuid } of silent) {
      const check = await lockCheck(tx, project.id, uuid)
      if (check?.status !== 'new' || check.nPings > 0) continue
      const alertAfter = await deadlineOf(tx, { ...check, expectedFrom: from }, nextOccurrence)
      started.push({ id: check.id, uuid, alertAfter })
    }
    await expectFirstPings(tx, from, started)
    const target = `${project.name}: ${started.length} checks`
    const { organisationId } = project
    if (started.length > 0) await insertActorAudit(tx, actor, { organisationId, action: 'project.watched', target })
    return started.map(({ uuid }) => uuid)
  })
  for (const uuid of uuids) announce({ kind: 'check', uuid, projectId: project.id })
  return uuids.length
}
