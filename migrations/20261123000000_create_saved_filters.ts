import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE saved_filters (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT saved_filters_pkey PRIMARY KEY,
      project_id bigint NOT NULL CONSTRAINT saved_filters_project_fkey REFERENCES projects ON DELETE CASCADE,
      user_id bigint NOT NULL CONSTRAINT saved_filters_user_fkey REFERENCES users ON DELETE CASCADE,
      name text NOT NULL,
      query text NOT NULL,
      CONSTRAINT saved_filters_name_key UNIQUE (project_id, user_id, name)
    );
    CREATE INDEX saved_filters_user_idx ON saved_filters (user_id);
    COMMENT ON INDEX saved_filters_user_idx IS 'deletion of a person';
    COMMENT ON COLUMN saved_filters.query IS 'what of the address of the list filters and orders it, in one form';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE saved_filters')
}
