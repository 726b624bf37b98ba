import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE INDEX CONCURRENTLY notifications_pending_idx ON notifications (check_id, integration_id, created_at)
      WHERE state = 'pending'
  `)
  await knex.raw(`
    COMMENT ON INDEX notifications_pending_idx IS
      'the order of messages: whether an integration has still to hear of something older'
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX notifications_pending_idx')
}

/** The table is written to all the time, and an index that is made in a transaction would hold that up. */
export const config = { transaction: false }
