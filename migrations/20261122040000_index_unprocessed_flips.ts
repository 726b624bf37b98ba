import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE INDEX CONCURRENTLY flips_unprocessed_idx ON flips (id) WHERE processed_at IS NULL;
  `)
  await knex.raw(`
    COMMENT ON INDEX flips_unprocessed_idx IS 'flips that nobody has been notified of yet: the sweep that sends them round again'
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX flips_unprocessed_idx')
}

/** The table is written to all the time, and an index that is made in a transaction would hold that up. */
export const config = { transaction: false }
