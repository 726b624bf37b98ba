import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE check_secrets (
      check_id bigint CONSTRAINT check_secrets_pkey PRIMARY KEY
        CONSTRAINT check_secrets_check_fkey REFERENCES checks ON DELETE CASCADE,
      sealed_secret text NOT NULL,
      sealed_previous text,
      previous_until timestamptz
    );
    COMMENT ON TABLE check_secrets IS 'secrets that pings of checks must show whose rules ask for one';
    COMMENT ON COLUMN check_secrets.sealed_previous IS 'the one before, which counts until previous_until';

    ALTER TABLE projects ADD COLUMN provisioning jsonb NOT NULL DEFAULT '{}';
    COMMENT ON COLUMN projects.provisioning IS 'settings of checks that are made by their first ping, as the API shows them';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE projects DROP COLUMN provisioning; DROP TABLE check_secrets')
}
