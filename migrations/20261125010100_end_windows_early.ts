import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE windows ADD COLUMN cuts jsonb NOT NULL DEFAULT '[]';
    COMMENT ON COLUMN windows.cuts IS
      'occurrences of a recurring window that were ended early: when they began and ended, in microseconds since 1970';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE windows DROP COLUMN cuts')
}
