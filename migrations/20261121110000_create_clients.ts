import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE organisation_families (
      organisation_id bigint NOT NULL
        CONSTRAINT organisation_families_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      family text NOT NULL,
      granted_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT organisation_families_pkey PRIMARY KEY (organisation_id, family)
    );

    CREATE TABLE clients (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT clients_pkey PRIMARY KEY,
      client_id text NOT NULL CONSTRAINT clients_client_id_key UNIQUE,
      organisation_id bigint NOT NULL CONSTRAINT clients_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      name text NOT NULL,
      env text NOT NULL CONSTRAINT clients_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      scopes text[] NOT NULL,
      token_alg text NOT NULL DEFAULT 'ES256' CONSTRAINT clients_token_alg_check CHECK (token_alg IN ('ES256', 'RS256')),
      created_at timestamptz NOT NULL DEFAULT now(),
      disabled_at timestamptz
    );
    CREATE INDEX clients_organisation_idx ON clients (organisation_id, id);
    COMMENT ON INDEX clients_organisation_idx IS 'the clients of an organisation, in order of creation';

    CREATE TABLE client_secrets (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT client_secrets_pkey PRIMARY KEY,
      client_id bigint NOT NULL CONSTRAINT client_secrets_client_fkey REFERENCES clients ON DELETE CASCADE,
      prefix text NOT NULL,
      digest bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      revoked_at timestamptz
    );
    CREATE INDEX client_secrets_client_idx ON client_secrets (client_id) WHERE revoked_at IS NULL;
    COMMENT ON INDEX client_secrets_client_idx IS 'the secrets that a client may still use, at most two';
    COMMENT ON COLUMN client_secrets.digest IS 'SHA-256 of the secret: 256 random bits need no slow hash';

    CREATE TABLE consumer_keys (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT consumer_keys_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL
        CONSTRAINT consumer_keys_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      client_id bigint CONSTRAINT consumer_keys_client_fkey REFERENCES clients ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT consumer_keys_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      prefix text NOT NULL,
      digest bytea NOT NULL CONSTRAINT consumer_keys_digest_key UNIQUE,
      created_at timestamptz NOT NULL DEFAULT now(),
      revoked_at timestamptz
    );
    CREATE INDEX consumer_keys_organisation_idx ON consumer_keys (organisation_id, env) WHERE revoked_at IS NULL;
    COMMENT ON INDEX consumer_keys_organisation_idx IS 'whether a consumer has an x-api-key at all';

    CREATE TABLE lms_integrations (
      id uuid CONSTRAINT lms_integrations_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL
        CONSTRAINT lms_integrations_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      client_id bigint CONSTRAINT lms_integrations_client_fkey REFERENCES clients ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT lms_integrations_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      sealed_secret text,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX lms_integrations_organisation_idx ON lms_integrations (organisation_id, env);
    COMMENT ON INDEX lms_integrations_organisation_idx IS 'the integrations of an organisation';
    COMMENT ON COLUMN lms_integrations.sealed_secret IS 'encrypted, since it signs; NULL when it is not provisioned';

    CREATE TABLE token_keys (
      kid text CONSTRAINT token_keys_pkey PRIMARY KEY,
      alg text NOT NULL CONSTRAINT token_keys_alg_check CHECK (alg IN ('ES256', 'RS256')),
      role text NOT NULL CONSTRAINT token_keys_role_check CHECK (role IN ('CURRENT', 'NEXT', 'PREVIOUS')),
      public_jwk jsonb NOT NULL,
      sealed_private_jwk text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      role_since timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX token_keys_role_key ON token_keys (alg, role) WHERE role IN ('CURRENT', 'NEXT');
    COMMENT ON INDEX token_keys_role_key IS 'one key signs and one is announced, whoever rotates at the same moment';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE token_keys; DROP TABLE lms_integrations; DROP TABLE consumer_keys; DROP TABLE client_secrets;
    DROP TABLE clients; DROP TABLE organisation_families`)
}
