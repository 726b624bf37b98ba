import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE domain_keys (
      env text NOT NULL CONSTRAINT domain_keys_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      purpose text NOT NULL,
      epoch integer NOT NULL CONSTRAINT domain_keys_epoch_check CHECK (epoch > 0),
      sealed_key text NOT NULL,
      public_key bytea,
      state text NOT NULL CONSTRAINT domain_keys_state_check CHECK (state IN ('CURRENT', 'PREVIOUS')),
      record text,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT domain_keys_pkey PRIMARY KEY (env, purpose, epoch)
    );
    CREATE UNIQUE INDEX domain_keys_current_key ON domain_keys (env, purpose) WHERE state = 'CURRENT';
    COMMENT ON INDEX domain_keys_current_key IS 'one key of a purpose names what is new';
    COMMENT ON TABLE domain_keys IS
      'keys that name things for years: random, sealed, and not changed by a rotation of SECRET_KEY';
    COMMENT ON COLUMN domain_keys.record IS 'the anchored object that announces the public key';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE domain_keys')
}
