import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE pings ADD COLUMN ignored text;
    COMMENT ON COLUMN pings.ignored IS
      'why a ping of type ign changed nothing: paused, method or keywords; null for all others and for old ones';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE pings DROP COLUMN ignored')
}
