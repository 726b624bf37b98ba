import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE import_sources ADD COLUMN origin uuid;
    COMMENT ON COLUMN import_sources.origin IS 'equal for imports from one place: those that had a check in common; NULL for earlier imports';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE import_sources DROP COLUMN origin')
}
