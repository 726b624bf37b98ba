import type { Knex } from 'knex'

/** That of waiting flips has no reader any more: whether one waits is looked for among all flips of a check. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE INDEX CONCURRENTLY incidents_group_idx ON incidents (policy_id, alert_at)
      WHERE suppression = 'GROUPING' AND resolved_at IS NULL
  `)
  await knex.raw(`
    COMMENT ON INDEX incidents_group_idx IS 'first messages of a policy that wait for others, and since when'
  `)
  await knex.raw('DROP INDEX CONCURRENTLY flips_waiting_idx')
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('CREATE INDEX CONCURRENTLY flips_waiting_idx ON flips (check_id, id) WHERE processed_at IS NULL')
  await knex.raw('DROP INDEX incidents_group_idx')
}

/** The tables are written to all the time, and an index that is made in a transaction would hold that up. */
export const config = { transaction: false }
