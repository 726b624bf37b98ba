import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    COMMENT ON COLUMN pings.ignored IS
      'why a ping changed nothing: source for one whose source is not counted, another reason with type ign, else null'
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    COMMENT ON COLUMN pings.ignored IS
      'why a ping of type ign changed nothing: paused, method or keywords; null for all others and for old ones'
  `)
}
