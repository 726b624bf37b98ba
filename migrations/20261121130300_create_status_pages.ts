import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE status_pages (
      project_id bigint CONSTRAINT status_pages_pkey PRIMARY KEY
        CONSTRAINT status_pages_project_fkey REFERENCES projects ON DELETE CASCADE,
      token text NOT NULL CONSTRAINT status_pages_token_key UNIQUE,
      title text NOT NULL,
      tags text NOT NULL DEFAULT '',
      created_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON COLUMN status_pages.token IS '128 random bits: the page is public to whoever has its address';
    COMMENT ON COLUMN status_pages.tags IS 'only checks with one of these tags are shown; empty shows all';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE status_pages')
}
