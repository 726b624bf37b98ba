import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE events (
      id uuid CONSTRAINT events_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL CONSTRAINT events_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT events_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      type text NOT NULL,
      deal_id text NOT NULL,
      body text NOT NULL,
      occurred_at timestamptz NOT NULL
    );
    CREATE INDEX events_organisation_idx ON events (organisation_id, env, occurred_at DESC, id DESC);
    COMMENT ON INDEX events_organisation_idx IS 'the events of an organisation, newest first';
    COMMENT ON COLUMN events.body IS 'the payload in canonical form with its anchor: the bytes that are signed and sent';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE events')
}
