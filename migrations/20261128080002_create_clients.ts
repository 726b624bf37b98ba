import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE clients (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT clients_pkey PRIMARY KEY,
      client_id text NOT NULL CONSTRAINT clients_client_id_key UNIQUE,
      organisation_id bigint NOT NULL CONSTRAINT clients_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      name text NOT NULL,
      env text NOT NULL,
      scopes text[] NOT NULL,
      token_alg text NOT NULL DEFAULT 'ES256',
      created_at timestamptz NOT NULL DEFAULT now(),
      disabled_at timestamptz,
      disabled_by_operator boolean NOT NULL DEFAULT false,
      CONSTRAINT clients_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT clients_token_alg_check CHECK (token_alg IN ('ES256', 'RS256'))
    );
    COMMENT ON COLUMN clients.disabled_by_operator IS 'true: owners cannot enable the client';
    CREATE INDEX clients_organisation_idx ON clients (organisation_id, id);
    COMMENT ON INDEX clients_organisation_idx IS 'lists the clients of an organisation by creation order';

    CREATE TABLE client_secrets (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT client_secrets_pkey PRIMARY KEY,
      client_id bigint NOT NULL CONSTRAINT client_secrets_client_fkey REFERENCES clients ON DELETE CASCADE,
      prefix text NOT NULL,
      digest bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      revoked_at timestamptz
    );
    COMMENT ON COLUMN client_secrets.digest IS 'SHA-256 of the secret; 256 random bits need no slow hash';
    CREATE INDEX client_secrets_client_idx ON client_secrets (client_id) WHERE revoked_at IS NULL;
    COMMENT ON INDEX client_secrets_client_idx IS 'lists the valid secrets of a client, at most two';

    CREATE TABLE token_keys (
      kid text CONSTRAINT token_keys_pkey PRIMARY KEY,
      alg text NOT NULL,
      role text NOT NULL,
      public_jwk jsonb NOT NULL,
      sealed_private_jwk text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      role_since timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT token_keys_alg_check CHECK (alg IN ('ES256', 'RS256')),
      CONSTRAINT token_keys_role_check CHECK (role IN ('CURRENT', 'NEXT', 'PREVIOUS'))
    );
    CREATE UNIQUE INDEX token_keys_role_key ON token_keys (alg, role) WHERE role IN ('CURRENT', 'NEXT');
    COMMENT ON INDEX token_keys_role_key IS 'allows one CURRENT and one NEXT key per algorithm, also during concurrent rotations';

    CREATE TABLE consumer_keys (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT consumer_keys_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL CONSTRAINT consumer_keys_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      client_id bigint CONSTRAINT consumer_keys_client_fkey REFERENCES clients ON DELETE CASCADE,
      env text NOT NULL,
      prefix text NOT NULL,
      digest bytea NOT NULL CONSTRAINT consumer_keys_digest_key UNIQUE,
      created_at timestamptz NOT NULL DEFAULT now(),
      revoked_at timestamptz,
      CONSTRAINT consumer_keys_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION'))
    );
    CREATE INDEX consumer_keys_organisation_idx ON consumer_keys (organisation_id, env) WHERE revoked_at IS NULL;
    COMMENT ON INDEX consumer_keys_organisation_idx IS 'checks if a consumer has an x-api-key';

    CREATE TABLE organisation_families (
      organisation_id bigint NOT NULL CONSTRAINT organisation_families_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      family text NOT NULL,
      granted_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT organisation_families_pkey PRIMARY KEY (organisation_id, family)
    );

    CREATE TABLE withheld_families (
      organisation_id bigint NOT NULL CONSTRAINT withheld_families_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      family text NOT NULL,
      withheld_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT withheld_families_pkey PRIMARY KEY (organisation_id, family)
    );
    COMMENT ON TABLE withheld_families IS 'families that the operator revoked; owners cannot grant them';

    CREATE TABLE idempotency_keys (
      organisation_id bigint NOT NULL CONSTRAINT idempotency_keys_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      key text NOT NULL,
      fingerprint bytea NOT NULL,
      lease_until timestamptz,
      status smallint,
      headers jsonb,
      body text,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      erasure_digest bytea,
      CONSTRAINT idempotency_keys_answer_check CHECK ((status IS NULL) = (body IS NULL)),
      CONSTRAINT idempotency_keys_pkey PRIMARY KEY (organisation_id, env, key)
    );
    COMMENT ON COLUMN idempotency_keys.status IS 'NULL while the first request is in progress, at most until lease_until';
    COMMENT ON COLUMN idempotency_keys.erasure_digest IS 'SHA-256 of the credential in the stored response; erasing the presented credential deletes the row';
    CREATE INDEX idempotency_keys_erasure_idx ON idempotency_keys (erasure_digest) WHERE erasure_digest IS NOT NULL;
    COMMENT ON INDEX idempotency_keys_erasure_idx IS 'finds stored responses that contain a credential, to delete them with its values';
    CREATE INDEX idempotency_keys_expires_idx ON idempotency_keys (expires_at);
    COMMENT ON INDEX idempotency_keys_expires_idx IS 'retention: deletes expired idempotency keys';

    CREATE TABLE usage_units (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT usage_units_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL CONSTRAINT usage_units_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      family text NOT NULL,
      unit_key text NOT NULL,
      on_date date NOT NULL,
      CONSTRAINT usage_units_unit_key UNIQUE (organisation_id, env, family, unit_key)
    );
    COMMENT ON TABLE usage_units IS 'one row per metered call, not a counter, so that concurrent calls do not wait for a row lock';
    CREATE INDEX usage_units_day_idx ON usage_units (organisation_id, on_date, family, env);
    COMMENT ON INDEX usage_units_day_idx IS 'counts the units of an organisation per family and day';

    CREATE TABLE daily_counters (
      organisation_id bigint NOT NULL CONSTRAINT daily_counters_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      name text NOT NULL,
      on_date date NOT NULL,
      count integer NOT NULL,
      CONSTRAINT daily_counters_pkey PRIMARY KEY (organisation_id, env, name, on_date)
    );
    COMMENT ON TABLE daily_counters IS 'limit usage per organisation and day in Indian time';
    CREATE INDEX daily_counters_date_idx ON daily_counters (on_date);
    COMMENT ON INDEX daily_counters_date_idx IS 'retention: deletes counters of past days';

    CREATE UNLOGGED TABLE rate_limits (
      bucket text CONSTRAINT rate_limits_pkey PRIMARY KEY,
      tokens double precision NOT NULL,
      updated_at timestamptz NOT NULL,
      granted integer NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50);
    COMMENT ON COLUMN rate_limits.granted IS 'tokens granted to the last request; returned by the statement that takes them';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP TABLE rate_limits, daily_counters, usage_units, idempotency_keys, withheld_families, organisation_families, consumer_keys, token_keys, client_secrets, clients',
  )
}
