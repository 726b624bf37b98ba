import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import { IS_EXHAUSTED } from '../alerting/incident-store.ts'
import type { NotifiedState } from '../alerting/next-notification.ts'
import type { Plan } from '../alerting/policy.ts'
import { personName } from '../contacts/person-store.ts'
import type { FlipReason, NotifiedPing } from './notification.ts'

export interface IntegrationForSending {
  uuid: string
  kind: string
  name: string
  sealedConfig: string
  isEmailVerified: boolean
  organisationId: number
  projectId: number
  projectUuid: string
  projectName: string
}

const INTEGRATIONS_COLUMNS = columns<IntegrationForSending & { id: number }>()(`
  c.id, c.uuid, c.kind, c.name, c.sealed_config, c.email_verified AS isEmailVerified, p.organisation_id,
  p.id AS projectId, p.uuid AS projectUuid, p.name AS projectName`)

/** In the order of the ids; null for deleted ones. */
export async function integrationsForSending(
  db: Knex,
  integrationIds: readonly number[],
): Promise<(IntegrationForSending | null)[]> {
  const rows = await query(
    db,
    typed`SELECT ${INTEGRATIONS_COLUMNS}
     FROM integrations c JOIN projects p ON p.id = c.project_id WHERE c.id = ANY(?::bigint[])`,
    [integrationIds],
  )
  const integrations = new Map(rows.map(({ id, ...integration }) => [id, integration]))
  return integrationIds.map((id) => integrations.get(id) ?? null)
}

export interface FlipForSending {
  at: Micros
  reason: FlipReason
  checkId: number
  /** null unless the flip before went to down */
  downSince: Micros | null
}

const FLIPS_COLUMNS = columns<FlipForSending & { id: number }>()(`
  f.id, ${microsOf('f.at')} AS at, f.reason, f.check_id, before.at AS downSince`)

/** In the order of the ids; null for deleted ones. */
export async function flipsForSending(db: Knex, flipIds: readonly number[]): Promise<(FlipForSending | null)[]> {
  const rows = await query(
    db,
    typed`SELECT ${FLIPS_COLUMNS} FROM flips f
     LEFT JOIN LATERAL (
       SELECT CASE WHEN p.to_status = 'down' THEN ${microsOf('p.at')} END AS at FROM flips p
       WHERE p.check_id = f.check_id AND p.id < f.id ORDER BY p.id DESC LIMIT 1) before ON true
     WHERE f.id = ANY(?::bigint[])`,
    [flipIds],
  )
  const flips = new Map(rows.map(({ id, ...flip }) => [id, flip]))
  return flipIds.map((id) => flips.get(id) ?? null)
}

const PLACE_COLUMNS = columns<{ place: number }>({ place: 't.place' })
const NOTIFIED_PING_COLUMNS = columns<NotifiedPing>()(`
  n, type, ${microsOf('at')} AS at, scheme, remote_addr, method, ua, exit_status, body`)

/** Not later than an instant, so that a message shows no ping after the deadline. In the order of the arguments. */
export async function lastPingsUntil(
  db: Knex,
  requested: readonly { checkId: number; until: Micros }[],
): Promise<(NotifiedPing | null)[]> {
  const rows = await query(
    db,
    typed`SELECT ${PLACE_COLUMNS}, ping.* FROM unnest(?::int[], ?::bigint[], ?::bigint[]) AS t(place, check_id, until)
     JOIN LATERAL (
       SELECT ${NOTIFIED_PING_COLUMNS}
       FROM pings WHERE check_id = t.check_id AND at <= ${timestampOf('t.until')} ORDER BY n DESC LIMIT 1) ping ON true`,
    [requested.map((_, place) => place), requested.map(({ checkId }) => checkId), requested.map(({ until }) => until)],
  )
  const pings = new Map(rows.map(({ place, ...ping }) => [place, ping]))
  return requested.map((_, place) => pings.get(place) ?? null)
}

export interface IncidentForSending extends NotifiedState {
  checkId: number
  /** name of the policy; null without one */
  policy: string | null
  plan: Plan | null
  downAt: Micros
  upAt: Micros | null
  reason: FlipReason
  name: string
  ackBy: string
  ackVia: string
  /** of the account; null unless the acknowledger is a member with a name */
  ackName: string | null
}

const INCIDENTS_COLUMNS = columns<IncidentForSending & { id: string }>()(`
  i.id, i.check_id, i.severity, i.state, ${microsOf('i.alert_at')} AS alertAt, i.notified, i.skips, i.suppression,
  ${microsOf('i.exhausted_at')} AS exhaustedAt, ${IS_EXHAUSTED} AS isExhausted, p.name AS policy, p.plan,
  ${microsOf('i.down_at')} AS downAt,
  ${microsOf('coalesce(i.resolved_at, i.up_at)')} AS upAt, coalesce(flip.reason, '') AS reason,
  coalesce(nullif(c.name, ''), c.uuid::text) AS name,
  coalesce(i.ack_by, '') AS ackBy, coalesce(i.ack_via, '') AS ackVia,
  ${personName('i.ack_by', 'i.project_id')} AS ackName`)

export async function incidentsForSending(db: Knex, ids: readonly string[]): Promise<(IncidentForSending | null)[]> {
  const rows = await query(
    db,
    typed`SELECT ${INCIDENTS_COLUMNS} FROM incidents i JOIN checks c ON c.id = i.check_id
     LEFT JOIN alert_policies p ON p.id = i.policy_id
     LEFT JOIN LATERAL (
       SELECT f.reason FROM flips f WHERE f.check_id = i.check_id AND f.to_status = 'down'
         AND f.at <= coalesce(i.resolved_at, now()) ORDER BY f.id DESC LIMIT 1) flip ON true
     WHERE i.id = ANY(?::uuid[])`,
    [ids],
  )
  const incidents = new Map(rows.map(({ id, ...incident }) => [id, incident]))
  return ids.map((id) => incidents.get(id) ?? null)
}
