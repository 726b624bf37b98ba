import type { Knex } from 'knex'
import { microsOf } from '#shared/platform/database/instants.ts'
import { columns, query, typed } from '#shared/platform/database/sql.ts'
import type { Micros } from '#shared/time.ts'

/** True if a sweep may find something; the sweep itself checks narrower conditions. */
export interface PossibleWork {
  overdueChecks: boolean
  alerts: boolean
  notifications: boolean
  deliveries: boolean
  mails: boolean
  messages: boolean
  identities: boolean
  unknownPeriods: boolean
  financing: boolean
}

const DUE_COLUMNS = columns<PossibleWork & { now: Micros }>({
  now: microsOf('clock_timestamp()'),
  overdueChecks: 'EXISTS (SELECT FROM check_deadlines WHERE next_check_at < now())',
  alerts: `EXISTS (SELECT FROM flips WHERE processed_at IS NULL)
    OR EXISTS (SELECT FROM incidents WHERE next_at <= now())
    OR EXISTS (SELECT FROM notification_bundles WHERE sent_at IS NULL)
    OR EXISTS (SELECT FROM pending_notifications)`,
  notifications: "EXISTS (SELECT FROM notifications WHERE state = 'pending' AND next_attempt_at <= now())",
  deliveries: "EXISTS (SELECT FROM webhook_deliveries WHERE state = 'PENDING')",
  mails: 'EXISTS (SELECT FROM outgoing_mails WHERE next_attempt_at <= now())',
  messages: 'EXISTS (SELECT FROM outbox)',
  identities: `EXISTS (SELECT FROM presentations) OR EXISTS (SELECT FROM presentation_values)
    OR EXISTS (SELECT FROM identity_subjects) OR EXISTS (SELECT FROM identity_verifications)`,
  unknownPeriods: 'EXISTS (SELECT FROM unknown_periods)',
  financing: `EXISTS (SELECT FROM financing_registrations) OR EXISTS (SELECT FROM financing_fingerprints)
    OR EXISTS (SELECT FROM financing_disputes)`,
})

/** Reads the database's clock and which sweeps may have work, in one statement, the only one of an idle sweeper. */
export async function readDueSweeps(db: Knex): Promise<{ now: Micros; work: PossibleWork }> {
  const [row] = await query(db, typed`SELECT ${DUE_COLUMNS}`)
  if (!row) throw new Error('the database returned no time')
  const { now, ...work } = row
  return { now, work }
}
