import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE status_pages ADD COLUMN intro text NOT NULL DEFAULT '';
    ALTER TABLE status_pages ADD COLUMN is_grouped boolean NOT NULL DEFAULT false;
    COMMENT ON COLUMN status_pages.is_grouped IS 'checks stand under their first tag';

    CREATE TABLE status_notes (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT status_notes_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT status_notes_uuid_key UNIQUE,
      project_id bigint NOT NULL CONSTRAINT status_notes_project_fkey REFERENCES projects ON DELETE CASCADE,
      title text NOT NULL,
      body text NOT NULL,
      at timestamptz NOT NULL DEFAULT now(),
      ended_at timestamptz
    );
    COMMENT ON TABLE status_notes IS 'what people say on the status page of a project';
    COMMENT ON COLUMN status_notes.ended_at IS 'since when it is over; null while it goes on';
    CREATE INDEX status_notes_project_idx ON status_notes (project_id, id DESC);
    COMMENT ON INDEX status_notes_project_idx IS 'the notes of a page, newest first; deletion of the project';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE status_notes;
    ALTER TABLE status_pages DROP COLUMN is_grouped;
    ALTER TABLE status_pages DROP COLUMN intro`)
}
