import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { type ContactRules, DEFAULT_SETTINGS, type OnCallSettings, type RuleList } from './contact-rules.ts'

const RULE_COLUMNS = columns<{ userId: number; list: RuleList; after: number; method: string }>()(`
  user_id, list, after_seconds AS after, method_id AS method`)

/** Keyed by person; without an entry both lists are empty. */
export async function findContactRules(db: Knex, userIds: readonly number[]): Promise<Map<number, ContactRules>> {
  const rows = await query(
    db,
    typed`SELECT ${RULE_COLUMNS} FROM contact_rules r WHERE user_id = ANY(?::bigint[])
     ORDER BY after_seconds, (SELECT n FROM contact_methods m WHERE m.id = r.method_id)`,
    [userIds],
  )
  const entriesOf = (userId: number, list: RuleList) =>
    rows.filter((row) => row.userId === userId && row.list === list).map(({ after, method }) => ({ after, method }))
  return new Map(
    userIds.map((userId) => [userId, { critical: entriesOf(userId, 'critical'), other: entriesOf(userId, 'other') }]),
  )
}

export async function replaceContactRules(tx: Knex, userId: number, { critical, other }: ContactRules): Promise<void> {
  await execute(tx, 'DELETE FROM contact_rules WHERE user_id = ?', [userId])
  const entries = [
    ...critical.map((entry) => ({ ...entry, list: 'critical' })),
    ...other.map((entry) => ({ ...entry, list: 'other' })),
  ]
  await execute(
    tx,
    `INSERT INTO contact_rules (user_id, list, after_seconds, method_id)
     SELECT ?, list, after, method FROM unnest(?::text[], ?::int[], ?::uuid[]) AS t(list, after, method)`,
    [userId, entries.map(({ list }) => list), entries.map(({ after }) => after), entries.map(({ method }) => method)],
  )
}

const SETTINGS_COLUMNS = columns<OnCallSettings & { userId: number }>()('user_id, quiet, notices')

/** Keyed by person; includes defaults. */
export async function findOnCallSettings(db: Knex, userIds: readonly number[]): Promise<Map<number, OnCallSettings>> {
  const rows = await query(
    db,
    typed`SELECT ${SETTINGS_COLUMNS} FROM on_call_settings WHERE user_id = ANY(?::bigint[])`,
    [userIds],
  )
  const stored = new Map(rows.map(({ userId, ...settings }) => [userId, settings]))
  return new Map(userIds.map((userId) => [userId, stored.get(userId) ?? DEFAULT_SETTINGS]))
}

export async function saveOnCallSettings(tx: Knex, userId: number, { quiet, notices }: OnCallSettings): Promise<void> {
  await execute(
    tx,
    `INSERT INTO on_call_settings (user_id, quiet, notices) VALUES (?, ?::jsonb, ?::jsonb)
     ON CONFLICT (user_id) DO UPDATE SET quiet = excluded.quiet, notices = excluded.notices`,
    [userId, JSON.stringify(quiet), JSON.stringify(notices)],
  )
  // Shift notices of the person may now be due at other times.
  await execute(
    tx,
    `UPDATE schedules SET next_notice_at = NULL
     WHERE organisation_id IN (SELECT organisation_id FROM memberships WHERE user_id = ?)`,
    [userId],
  )
}
