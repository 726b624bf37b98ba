import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE status_pages ADD COLUMN logo bytea;
    ALTER TABLE status_pages ADD COLUMN logo_type text;
    ALTER TABLE status_pages ADD COLUMN logo_mark text;
    COMMENT ON COLUMN status_pages.logo_type IS 'as its first bytes say, never as a browser did';
    COMMENT ON COLUMN status_pages.logo_mark IS 'of its bytes, for its address; null without a logo';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE status_pages DROP COLUMN logo_mark;
    ALTER TABLE status_pages DROP COLUMN logo_type;
    ALTER TABLE status_pages DROP COLUMN logo`)
}
