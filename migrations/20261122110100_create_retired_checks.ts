import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE deleted_checks (uuid uuid CONSTRAINT deleted_checks_pkey PRIMARY KEY);
    COMMENT ON TABLE deleted_checks IS
      'uuids of deleted checks, for ever: what still pings one must not become the pings of somebody else. Whose they were is not kept'`)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE deleted_checks')
}
