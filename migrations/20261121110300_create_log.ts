import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE log_entries (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT log_entries_pkey PRIMARY KEY,
      env text NOT NULL CONSTRAINT log_entries_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      seq bigint,
      leaf_hash bytea NOT NULL,
      entry bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT log_entries_leaf_key UNIQUE (env, leaf_hash),
      CONSTRAINT log_entries_seq_key UNIQUE (env, seq)
    );
    CREATE INDEX log_entries_waiting_idx ON log_entries (env, id) WHERE seq IS NULL;
    COMMENT ON INDEX log_entries_waiting_idx IS 'the sequencer: entries that have no place in the log yet';
    COMMENT ON COLUMN log_entries.entry IS 'hash, event type and time; never an id, a registration or an amount';

    CREATE TABLE log_tiles (
      env text NOT NULL,
      level smallint NOT NULL,
      index bigint NOT NULL,
      data bytea NOT NULL,
      CONSTRAINT log_tiles_pkey PRIMARY KEY (env, level, index)
    );
    COMMENT ON TABLE log_tiles IS 'the widest form of each tile; narrower ones are its beginning';

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
    CREATE INDEX log_checkpoints_witnessed_idx ON log_checkpoints (env, size) WHERE witnessed_at IS NOT NULL;
    COMMENT ON INDEX log_checkpoints_witnessed_idx IS 'up to where the log is witnessed';
    CREATE INDEX log_checkpoints_external_idx ON log_checkpoints (env, size) WHERE external_at IS NOT NULL;
    COMMENT ON INDEX log_checkpoints_external_idx IS 'up to where an outside network holds the log';

    CREATE TABLE log_receipts (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT log_receipts_pkey PRIMARY KEY,
      env text NOT NULL,
      size bigint NOT NULL,
      network text NOT NULL,
      source text NOT NULL,
      state text NOT NULL DEFAULT 'SUBMITTED'
        CONSTRAINT log_receipts_state_check CHECK (state IN ('SUBMITTED', 'CONFIRMED')),
      receipt bytea NOT NULL,
      poll_after timestamptz NOT NULL DEFAULT now(),
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT log_receipts_checkpoint_fkey FOREIGN KEY (env, size) REFERENCES log_checkpoints ON DELETE CASCADE,
      CONSTRAINT log_receipts_source_key UNIQUE (env, size, network, source)
    );
    CREATE INDEX log_receipts_poll_idx ON log_receipts (poll_after) WHERE state = 'SUBMITTED';
    COMMENT ON INDEX log_receipts_poll_idx IS 'receipts that may have become complete';

    CREATE TABLE log_keys (
      env text CONSTRAINT log_keys_pkey PRIMARY KEY,
      name text NOT NULL,
      public_key bytea NOT NULL,
      sealed_seed text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP TABLE log_keys; DROP TABLE log_receipts; DROP TABLE log_checkpoints; DROP TABLE log_tiles; DROP TABLE log_entries',
  )
}
