import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  // No ping changes a name, so updates of checks stay heap-only.
  await knex.raw(`
    CREATE INDEX checks_project_name_idx ON checks (project_id, lower(name), id);
    COMMENT ON INDEX checks_project_name_idx IS 'a page of the list of checks, by name';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX checks_project_name_idx')
}
