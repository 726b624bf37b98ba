import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE imports ADD COLUMN file_name text;
    COMMENT ON COLUMN imports.file_name IS 'from the form; NULL for files of the API, which have no name';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE imports DROP COLUMN file_name')
}
