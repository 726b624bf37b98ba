import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import { listenersOf } from '../availability/gap-store.ts'
import { personName } from '../contacts/person-store.ts'
import type { ShownIncident, TimelineRow } from './incident-page-view.ts'
import { type TimelineEntry, timelineEntries } from './timeline.ts'

/** Format of an instant inside a JSON document of the database. */
const ISO = `'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'`

const NOTIFICATION = `jsonb_build_object('channel', c.uuid, 'name', coalesce(nullif(c.name, ''), c.kind), 'type', c.kind,
  'state', n.state, 'error', n.error, 'attempts', n.attempts, 'step', n.detail->'step',
  'seconds', extract(epoch FROM n.finished_at - n.created_at))`

/** A contact method is shown by its kind, never by its address. */
const PERSONAL = `jsonb_build_object('name', coalesce(nullif(u.name, ''), u.email), 'person', u.email, 'type', n.method_kind,
  'state', n.state, 'error', n.error, 'attempts', n.attempts, 'step', n.detail->'step',
  'reason', n.detail->'reason', 'schedule', n.detail->'schedule',
  'seconds', extract(epoch FROM n.finished_at - n.created_at),
  'size', (SELECT count(DISTINCT m.incident_id) FROM notifications m WHERE m.leader_id = n.leader_id))`

const TIMELINE_ROW_COLUMNS = columns<TimelineRow>()(`${microsOf('t.at')} AS at, t.kind, t.what, t.detail`)

/** Oldest first. `after` is the number of rows to skip. */
export async function timelineOf(
  db: Knex,
  incident: ShownIncident,
  { limit, after = 0 }: { limit: number; after?: number },
): Promise<TimelineRow[]> {
  const listener = (await listenersOf(db, [incident.checkId])).get(incident.checkId) ?? 'http'
  return await query(
    db,
    typed`SELECT ${TIMELINE_ROW_COLUMNS} FROM (
       SELECT at, 1 AS place, 'flip' AS kind, to_status AS what, jsonb_build_object('reason', reason) AS detail FROM flips
       WHERE check_id = ? AND at >= ${timestampOf('?::bigint')} AND (?::bigint IS NULL OR at <= ${timestampOf('?::bigint')})
       UNION ALL
       SELECT at, 2, 'failure', 'fail', jsonb_build_object('exit', exit_status, 'n', n) FROM (
         SELECT n, at, exit_status FROM pings WHERE check_id = ? AND type = 'fail' AND ignored IS DISTINCT FROM 'source'
         UNION
         SELECT n, at, exit_status FROM kept_failures WHERE check_id = ? AND ignored IS DISTINCT FROM 'source') failures
       WHERE at >= ${timestampOf('?::bigint')} AND (?::bigint IS NULL OR at <= ${timestampOf('?::bigint')})
       UNION ALL
       SELECT at, 3, 'decision', outcome, jsonb_build_object('reason', reason, 'detail', detail,
         'until', to_char(until AT TIME ZONE 'UTC', ${ISO})) FROM alert_decisions
       WHERE check_id = ? AND incident_id = ?::uuid
       UNION ALL
       SELECT n.created_at, 4, 'notification', n.what, ${NOTIFICATION} FROM notifications n JOIN integrations c ON c.id = n.integration_id
       WHERE n.incident_id = ?::uuid
       UNION ALL
       SELECT n.created_at, 4, 'notification', n.what, ${PERSONAL} FROM notifications n JOIN users u ON u.id = n.user_id
       WHERE n.incident_id = ?::uuid
       UNION ALL
       SELECT n.created_at, 4, 'notification', n.what, ${NOTIFICATION} || jsonb_build_object('size', b.size)
       FROM notification_bundle_members m JOIN notification_bundles b ON b.id = m.bundle_id JOIN integrations c ON c.id = m.integration_id
         JOIN notifications n ON n.bundle_id = m.bundle_id AND n.integration_id = m.integration_id
       WHERE m.incident_id = ?::uuid AND m.included
       UNION ALL
       SELECT at, 5, 'action', kind, jsonb_build_object('by', actor_name, 'via', via, 'text', text,
         'name', ${personName('actor_name', '?')}, 'until', to_char(until_at AT TIME ZONE 'UTC', ${ISO})) FROM incident_events
       WHERE incident_id = ?::uuid
       UNION ALL
       SELECT from_at, 0, 'gap', kind, jsonb_build_object('until', to_char(until_at AT TIME ZONE 'UTC', ${ISO}), 'cause', cause)
       FROM coverage_gaps WHERE listener = ? AND kind <> 'detection' AND coalesce(until_at, 'infinity') > ${timestampOf('?::bigint')}
         AND from_at <= coalesce(${timestampOf('?::bigint')}, now())) t
     ORDER BY t.at, t.place, t.detail::text LIMIT ? OFFSET ?`,
    [
      incident.checkId,
      incident.downAt,
      incident.resolvedAt,
      incident.resolvedAt,
      incident.checkId,
      incident.checkId,
      incident.downAt,
      incident.resolvedAt,
      incident.resolvedAt,
      incident.checkId,
      incident.id,
      incident.id,
      incident.id,
      incident.id,
      incident.projectId,
      incident.id,
      listener,
      incident.downAt,
      incident.resolvedAt,
      limit,
      after,
    ],
  )
}

const MAX_ENTRIES = 500

export interface TimelinePage {
  rows: TimelineRow[]
  entries: TimelineEntry[]
  /** `after` of the next page; null on the last */
  next: number | null
}

export async function readTimeline(db: Knex, incident: ShownIncident, after = 0): Promise<TimelinePage> {
  const found = await timelineOf(db, incident, { limit: MAX_ENTRIES + 1, after })
  const rows = found.slice(0, MAX_ENTRIES)
  const isWhole = found.length <= MAX_ENTRIES
  return { rows, entries: timelineEntries(rows, incident, isWhole), next: isWhole ? null : after + MAX_ENTRIES }
}
