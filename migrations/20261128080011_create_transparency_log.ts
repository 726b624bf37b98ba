import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE log_keys (
      env text CONSTRAINT log_keys_pkey PRIMARY KEY,
      name text NOT NULL,
      public_key bytea NOT NULL,
      sealed_seed text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE TABLE log_entries (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT log_entries_pkey PRIMARY KEY,
      env text NOT NULL,
      seq bigint,
      leaf_hash bytea NOT NULL,
      entry bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT log_entries_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT log_entries_leaf_key UNIQUE (env, leaf_hash),
      CONSTRAINT log_entries_seq_key UNIQUE (env, seq)
    );
    COMMENT ON COLUMN log_entries.entry IS 'hash, event type and time; never an id, a registration or an amount';
    CREATE INDEX log_entries_waiting_idx ON log_entries (env, id) WHERE seq IS NULL;
    COMMENT ON INDEX log_entries_waiting_idx IS 'sequencer: finds entries that have no sequence number yet';

    CREATE TABLE log_tiles (
      env text NOT NULL,
      level smallint NOT NULL,
      index bigint NOT NULL,
      data bytea NOT NULL,
      CONSTRAINT log_tiles_pkey PRIMARY KEY (env, level, index)
    );
    COMMENT ON TABLE log_tiles IS 'widest version of each tile; narrower versions are prefixes of it';

    CREATE TABLE log_checkpoints (
      env text NOT NULL,
      size bigint NOT NULL,
      root bytea NOT NULL,
      note text NOT NULL,
      cosignatures text[] NOT NULL DEFAULT '{}',
      published_at timestamptz NOT NULL DEFAULT now(),
      witnessed_at timestamptz,
      external_at timestamptz,
      CONSTRAINT log_checkpoints_pkey PRIMARY KEY (env, size)
    );
    CREATE INDEX log_checkpoints_external_idx ON log_checkpoints (env, size) WHERE external_at IS NOT NULL;
    COMMENT ON INDEX log_checkpoints_external_idx IS 'finds the newest checkpoint confirmed by an external network';
    CREATE INDEX log_checkpoints_witnessed_idx ON log_checkpoints (env, size) WHERE witnessed_at IS NOT NULL;
    COMMENT ON INDEX log_checkpoints_witnessed_idx IS 'finds the newest witnessed checkpoint';

    CREATE TABLE log_receipts (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT log_receipts_pkey PRIMARY KEY,
      env text NOT NULL,
      size bigint NOT NULL,
      network text NOT NULL,
      source text NOT NULL,
      state text NOT NULL DEFAULT 'SUBMITTED',
      receipt bytea NOT NULL,
      poll_after timestamptz NOT NULL DEFAULT now(),
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT log_receipts_state_check CHECK (state IN ('SUBMITTED', 'CONFIRMED')),
      CONSTRAINT log_receipts_source_key UNIQUE (env, size, network, source),
      CONSTRAINT log_receipts_checkpoint_fkey FOREIGN KEY (env, size) REFERENCES log_checkpoints(env, size) ON DELETE CASCADE
    );
    CREATE INDEX log_receipts_poll_idx ON log_receipts (poll_after) WHERE state = 'SUBMITTED';
    COMMENT ON INDEX log_receipts_poll_idx IS 'finds unconfirmed receipts to poll';

    CREATE TABLE domain_keys (
      env text NOT NULL,
      purpose text NOT NULL,
      epoch integer NOT NULL,
      sealed_key text NOT NULL,
      public_key bytea,
      state text NOT NULL,
      record text,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT domain_keys_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT domain_keys_epoch_check CHECK (epoch > 0),
      CONSTRAINT domain_keys_state_check CHECK (state IN ('CURRENT', 'PREVIOUS', 'RETIRED')),
      CONSTRAINT domain_keys_pkey PRIMARY KEY (env, purpose, epoch)
    );
    COMMENT ON TABLE domain_keys IS 'keys of long-lived keyed identifiers: random, encrypted, unaffected by a rotation of SECRET_KEY';
    COMMENT ON COLUMN domain_keys.state IS 'CURRENT: creates identifiers; PREVIOUS: also, while callers migrate; RETIRED: only finds existing ones';
    COMMENT ON COLUMN domain_keys.record IS 'anchored object that announces the public key';
    CREATE UNIQUE INDEX domain_keys_current_key ON domain_keys (env, purpose) WHERE state = 'CURRENT';
    COMMENT ON INDEX domain_keys_current_key IS 'allows one CURRENT key per environment and purpose';

    CREATE TABLE invoice_keys (
      issuer text NOT NULL,
      kid text NOT NULL,
      env text NOT NULL,
      spki_pem text NOT NULL,
      not_before date,
      not_after date,
      provenance text NOT NULL,
      sealed_private_key text,
      added_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT invoice_keys_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT invoice_keys_private_check CHECK ((sealed_private_key IS NULL) OR (env = 'SANDBOX')),
      CONSTRAINT invoice_keys_pkey PRIMARY KEY (issuer, kid)
    );
    CREATE UNIQUE INDEX invoice_keys_own_key ON invoice_keys (env) WHERE sealed_private_key IS NOT NULL;
    COMMENT ON INDEX invoice_keys_own_key IS 'allows one key per environment that signs e-invoices; the sandbox signs demo e-invoices with it';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP TABLE invoice_keys, domain_keys, log_receipts, log_checkpoints, log_tiles, log_entries, log_keys',
  )
}
