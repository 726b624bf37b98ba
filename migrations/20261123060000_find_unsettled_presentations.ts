import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE INDEX presentations_unsettled_idx ON presentations (received_at) WHERE state = 'RECEIVED';
    COMMENT ON INDEX presentations_unsettled_idx IS 'the sweeper: answers that nobody could verify, whose form goes';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX presentations_unsettled_idx')
}
