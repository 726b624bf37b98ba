import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE INDEX CONCURRENTLY flips_waiting_idx ON flips (check_id, id) WHERE processed_at IS NULL;
  `)
  await knex.raw(`
    COMMENT ON INDEX flips_waiting_idx IS 'whether a flip is the oldest of its check that nobody has been notified of'
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX flips_waiting_idx')
}

/** The table is written to all the time, and an index that is made in a transaction would hold that up. */
export const config = { transaction: false }
