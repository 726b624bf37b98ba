import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import { type DigestMember, GATHERED_SECONDS } from './digest.ts'
import { isNews } from './flip-store.ts'

export interface Gathering {
  projectId: number
  policyId: number
  direction: 'up' | 'down'
}

export interface DueBundle extends Gathering {
  id: string
  projectUuid: string
}

const RECOVERIES_EVERY = '5 minutes'

const GROUP_DELAY_ENDS_COLUMNS = columns<{ id: number; at: Micros | null }>({
  id: 't.id',
  at: microsOf(`least(
       (SELECT min(alert_at) + t.within * interval '1 second' FROM incidents i
        WHERE i.policy_id = t.id AND i.suppression = 'GROUPING' AND i.resolved_at IS NULL),
       (SELECT opened_at FROM notification_bundles b WHERE b.policy_id = t.id AND b.direction = 'down' AND b.sent_at IS NULL))`),
})

/**
 * Returns by policy the earlier of two instants: the end of the grouping delay of its waiting incidents, and the opening
 * of its unsent digest. Omits policies without either. `within` is the delay in seconds.
 */
export async function groupDelayEndsOf(
  tx: Knex,
  policies: readonly { id: number; within: number }[],
): Promise<Map<number, Micros>> {
  if (policies.length === 0) return new Map()
  const rows = await query(
    tx,
    typed`SELECT ${GROUP_DELAY_ENDS_COLUMNS} FROM unnest(?::bigint[], ?::int[]) AS t(id, within)`,
    [policies.map(({ id }) => id), policies.map(({ within }) => within)],
  )
  return new Map(rows.flatMap(({ id, at }) => (at === null ? [] : [[id, at] as const])))
}

export async function gatheringPolicies(tx: Knex, policyIds: readonly number[]): Promise<Set<number>> {
  if (policyIds.length === 0) return new Set()
  const rows = await query<{ id: number }>(
    tx,
    `SELECT policy_id AS id FROM notification_bundles WHERE policy_id = ANY(?::bigint[]) AND direction = 'down' AND sent_at IS NULL`,
    [policyIds],
  )
  return new Set(rows.map(({ id }) => id))
}

export async function joinBundle(
  tx: Knex,
  { projectId, policyId, direction }: Gathering,
  members: readonly { integrationId: number; incidentId: string }[],
): Promise<void> {
  const rows = await query<{ id: string }>(
    tx,
    `INSERT INTO notification_bundles (id, project_id, policy_id, direction, opened_at, send_at)
     SELECT ?::uuid, ?, ?::bigint, ?, now(), greatest(now() + interval '${GATHERED_SECONDS} seconds',
       (SELECT max(sent_at) + interval '${RECOVERIES_EVERY}' FROM notification_bundles
        WHERE policy_id = ?::bigint AND direction = 'up' AND ? = 'up'))
     ON CONFLICT (policy_id, direction) WHERE sent_at IS NULL DO UPDATE SET size = notification_bundles.size RETURNING id`,
    [randomUUID(), projectId, policyId, direction, policyId, direction],
  )
  const [id = ''] = rows.map((bundle) => bundle.id)
  await execute(
    tx,
    `INSERT INTO notification_bundle_members (bundle_id, integration_id, incident_id)
     SELECT ?::uuid, integration_id, incident_id FROM unnest(?::bigint[], ?::uuid[]) AS t(integration_id, incident_id)
     ON CONFLICT DO NOTHING`,
    [id, members.map(({ integrationId }) => integrationId), members.map(({ incidentId }) => incidentId)],
  )
}

/** Limit of waiting changes that are read to find digests which may still grow. */
const MAX_CONSIDERED = 5_000

/** Projects with outages that have no decision. Computed once per statement. */
const OF_WHICH_MORE_COMES = `(
    SELECT project_id FROM (
      SELECT checks.project_id, flips.to_status FROM flips JOIN checks ON checks.id = flips.check_id
      WHERE flips.processed_at IS NULL AND ${isNews('flips')} LIMIT ${MAX_CONSIDERED}) waiting
    WHERE to_status = 'down')`

const IS_DUE = `b.sent_at IS NULL AND (b.send_at <= now() OR b.direction = 'down' AND NOT EXISTS (
    SELECT 1 FROM incidents i
    WHERE i.policy_id = b.policy_id AND i.suppression = 'GROUPING' AND i.resolved_at IS NULL AND i.next_at <= now())
    AND b.project_id NOT IN ${OF_WHICH_MORE_COMES})
  AND NOT EXISTS (SELECT 1 FROM notification_bundles d WHERE b.direction = 'up' AND d.policy_id = b.policy_id AND d.direction = 'down'
                    AND d.sent_at IS NULL)`

const DUE_BUNDLE_COLUMNS = columns<DueBundle>()('b.id, b.project_id, p.uuid AS projectUuid, b.policy_id, b.direction')

/** Claims digests that cannot grow any more, or that have waited long enough. */
export async function claimBundles(tx: Knex): Promise<DueBundle[]> {
  return await query(
    tx,
    typed`SELECT ${DUE_BUNDLE_COLUMNS}
     FROM notification_bundles b JOIN projects p ON p.id = b.project_id WHERE ${IS_DUE} ORDER BY b.id FOR UPDATE OF b SKIP LOCKED`,
  )
}

export async function isBundleDue(db: Knex): Promise<boolean> {
  return (await query(db, `SELECT 1 FROM notification_bundles b WHERE ${IS_DUE} LIMIT 1`)).length > 0
}

const MEMBER_COLUMNS = columns<DigestMember & { integrationId: number; size: number }>()(`
  m.integration_id, c.uuid AS check, c.name, i.id AS incident, i.severity,
  count(*) OVER (PARTITION BY m.integration_id) AS size`)

/** Leaves out ended and acknowledged outages, and recoveries of outages that were not notified. */
export async function closeBundle(
  tx: Knex,
  { id, direction }: DueBundle,
  most: number,
): Promise<{ integrationId: number; size: number; members: DigestMember[] }[]> {
  const isNotified =
    direction === 'down'
      ? `EXISTS (SELECT 1 FROM incidents i WHERE i.id = m.incident_id AND i.resolved_at IS NULL AND i.state <> 'acknowledged')`
      : `EXISTS (SELECT 1 FROM notification_bundle_members d JOIN notification_bundles b ON b.id = d.bundle_id
                 WHERE d.incident_id = m.incident_id AND d.integration_id = m.integration_id AND d.included AND b.direction = 'down')`
  await execute(
    tx,
    `UPDATE notification_bundle_members m SET included = true WHERE m.bundle_id = ?::uuid AND ${isNotified}`,
    [id],
  )
  const rows = await query(
    tx,
    typed`SELECT * FROM (
       SELECT ${MEMBER_COLUMNS},
              row_number() OVER (PARTITION BY m.integration_id
                ORDER BY array_position(ARRAY['critical', 'warning', 'info'], i.severity), c.name, c.id) AS place
       FROM notification_bundle_members m JOIN incidents i ON i.id = m.incident_id JOIN checks c ON c.id = i.check_id
       WHERE m.bundle_id = ?::uuid AND m.included) ranked
     WHERE place <= ? ORDER BY "integrationId", place`,
    [id, most],
  )
  await execute(
    tx,
    `UPDATE notification_bundles SET sent_at = now(), size = (
       SELECT count(DISTINCT incident_id) FROM notification_bundle_members WHERE bundle_id = notification_bundles.id AND included) WHERE id = ?::uuid`,
    [id],
  )
  return [...Map.groupBy(rows, ({ integrationId }) => integrationId)].map(([integrationId, members]) => ({
    integrationId,
    size: members[0]?.size ?? 0,
    members: members.map(({ check, name, incident, severity }) => ({ check, name, incident, severity })),
  }))
}

/** More than half of the checks that were expected within ten minutes are down, and no ping arrived in that time. */
export async function suggestsOwnOutage(db: Knex, projectId: number): Promise<boolean> {
  const [row] = await query<{ is: boolean }>(
    db,
    `SELECT coalesce(2 * count(*) FILTER (WHERE status = 'down') > count(*), false)
            AND NOT EXISTS (SELECT 1 FROM checks WHERE project_id = ? AND last_ping > now() - interval '10 minutes') AS is
     FROM checks LEFT JOIN incidents i ON i.check_id = checks.id AND i.resolved_at IS NULL
     WHERE checks.project_id = ? AND (i.down_at > now() - interval '10 minutes'
       OR checks.status = 'up' AND alert_after < now() + interval '10 minutes')`,
    [projectId, projectId],
  )
  return row?.is ?? false
}

export async function pruneBundles(db: Knex, days: number, limit: number): Promise<number> {
  return await execute(
    db,
    `DELETE FROM notification_bundles WHERE id IN (
       SELECT id FROM notification_bundles WHERE sent_at < now() - make_interval(days => ?) LIMIT ?)`,
    [days, limit],
  )
}
