import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE imports (
      id uuid CONSTRAINT imports_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL CONSTRAINT imports_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT imports_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      kind text NOT NULL CONSTRAINT imports_kind_check CHECK (kind IN ('TAPE', 'BUREAU')),
      style text NOT NULL,
      requested_mapping text,
      mapping text,
      state text NOT NULL DEFAULT 'UPLOADING' CONSTRAINT imports_state_check
        CHECK (state IN ('UPLOADING', 'RECEIVED', 'RUNNING', 'COMPLETED', 'COMPLETED_WITH_ERRORS', 'FAILED')),
      sha256 bytea,
      bytes bigint,
      received_at timestamptz,
      progress jsonb NOT NULL DEFAULT '{}',
      record_no integer NOT NULL DEFAULT 0,
      failure jsonb,
      record text,
      block_roots bytea,
      created_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz,
      CONSTRAINT imports_received_check CHECK (
        (state = 'UPLOADING') = (sha256 IS NULL) AND (sha256 IS NULL) = (received_at IS NULL)
        AND (sha256 IS NULL) = (bytes IS NULL)),
      CONSTRAINT imports_failure_check CHECK ((state = 'FAILED') = (failure IS NOT NULL)),
      CONSTRAINT imports_record_check CHECK ((record IS NOT NULL) = (state IN ('COMPLETED', 'COMPLETED_WITH_ERRORS')))
    );
    CREATE INDEX imports_list_idx ON imports (organisation_id, env, kind, seq DESC);
    COMMENT ON INDEX imports_list_idx IS 'the imports of an organisation, newest first';
    CREATE INDEX imports_content_idx ON imports (organisation_id, env, kind, sha256);
    COMMENT ON INDEX imports_content_idx IS 'the import of a file that comes again';
    CREATE INDEX imports_open_idx ON imports (created_at) WHERE state IN ('UPLOADING', 'RECEIVED', 'RUNNING');
    COMMENT ON INDEX imports_open_idx IS 'uploads that were broken off, imports that never ended';
    COMMENT ON COLUMN imports.progress IS 'what is counted so far, as of the record record_no: a worker goes on behind it';
    COMMENT ON COLUMN imports.record IS 'the anchored object with the root over the rows';
    COMMENT ON COLUMN imports.block_roots IS 'roots of the complete blocks of 512 rows, 32 bytes each, for proofs of rows';

    CREATE TABLE import_chunks (
      import_id uuid NOT NULL CONSTRAINT import_chunks_import_fkey REFERENCES imports ON DELETE CASCADE,
      n integer NOT NULL,
      data bytea NOT NULL,
      CONSTRAINT import_chunks_pkey PRIMARY KEY (import_id, n)
    );
    COMMENT ON TABLE import_chunks IS 'the file, sealed, until its import ends or for a day';

    CREATE TABLE import_rows (
      import_id uuid NOT NULL CONSTRAINT import_rows_import_fkey REFERENCES imports ON DELETE CASCADE,
      n integer NOT NULL,
      loan_ref bytea NOT NULL,
      hash bytea NOT NULL,
      body text NOT NULL,
      unread text[] NOT NULL,
      CONSTRAINT import_rows_pkey PRIMARY KEY (import_id, n),
      CONSTRAINT import_rows_loan_key UNIQUE (import_id, loan_ref)
    );
    COMMENT ON COLUMN import_rows.n IS 'place in the file among the accepted rows, and in the tree; from 0';
    COMMENT ON COLUMN import_rows.hash IS 'SHA-256 of the canonical row: the data of its leaf';
    COMMENT ON COLUMN import_rows.body IS 'the canonical row without its unmapped names, most of which are the import''s';

    CREATE TABLE import_errors (
      import_id uuid NOT NULL CONSTRAINT import_errors_import_fkey REFERENCES imports ON DELETE CASCADE,
      n integer NOT NULL,
      line integer NOT NULL,
      column_name text,
      code text NOT NULL,
      CONSTRAINT import_errors_pkey PRIMARY KEY (import_id, n)
    );
    COMMENT ON TABLE import_errors IS 'what could not be read, by line and column: never what stood there';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE import_errors; DROP TABLE import_rows; DROP TABLE import_chunks; DROP TABLE imports')
}
