import type { Knex } from 'knex'

/** Rows of one statement: pings that bring a deadline nearer wait for it. */
const PAGE = 10_000

/**
 * Gives every check with a deadline its mark. The triggers are there already: what pings write meanwhile is never later
 * than what is read here, and a row that is there stays. Repeating it after a half is harmless.
 */
export async function up(knex: Knex): Promise<void> {
  for (let after: string | null = '0'; after !== null; ) {
    const { rows }: { rows: { last: string | null }[] } = await knex.raw(
      `WITH page AS (
         SELECT id, alert_after FROM checks WHERE id > ?::bigint ORDER BY id LIMIT ?),
       filled AS (
         INSERT INTO check_deadlines (check_id, next_check_at)
         SELECT id, alert_after FROM page WHERE alert_after IS NOT NULL ORDER BY id ON CONFLICT DO NOTHING)
       SELECT max(id) AS last FROM page`,
      [after, PAGE],
    )
    after = rows[0]?.last ?? null
  }
}

/** The table goes with the migration that made it. */
export async function down(): Promise<void> {}

/** Page by page: a transaction over all would hold up the pings of the first until the last is done. */
export const config = { transaction: false }
