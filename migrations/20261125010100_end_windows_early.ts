import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE maintenance_windows ADD COLUMN cuts jsonb NOT NULL DEFAULT '[]';
    COMMENT ON COLUMN maintenance_windows.cuts IS
      'occurrences of a recurring window that were ended early: when they began and ended, in microseconds since 1970';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE maintenance_windows DROP COLUMN cuts')
}
