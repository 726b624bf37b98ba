import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE idempotency_keys (
      organisation_id bigint NOT NULL
        CONSTRAINT idempotency_keys_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      key text NOT NULL,
      fingerprint bytea NOT NULL,
      lease_until timestamptz,
      status smallint,
      headers jsonb,
      body text,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      CONSTRAINT idempotency_keys_pkey PRIMARY KEY (organisation_id, env, key),
      CONSTRAINT idempotency_keys_answer_check CHECK ((status IS NULL) = (body IS NULL))
    );
    CREATE INDEX idempotency_keys_expires_idx ON idempotency_keys (expires_at);
    COMMENT ON INDEX idempotency_keys_expires_idx IS 'retention: keys that may be forgotten';
    COMMENT ON COLUMN idempotency_keys.status IS 'NULL while the first request is under way, until lease_until';

    CREATE TABLE usage_units (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT usage_units_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL
        CONSTRAINT usage_units_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      family text NOT NULL,
      unit_key text NOT NULL,
      on_date date NOT NULL,
      CONSTRAINT usage_units_unit_key UNIQUE (organisation_id, env, family, unit_key)
    );
    CREATE INDEX usage_units_day_idx ON usage_units (organisation_id, on_date, family, env);
    COMMENT ON INDEX usage_units_day_idx IS 'units per family and day of an organisation';
    COMMENT ON TABLE usage_units IS
      'one row per metered call, not a counter: calls of one organisation need not wait for each other''s commit';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE usage_units; DROP TABLE idempotency_keys')
}
