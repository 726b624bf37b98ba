import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE lms_integrations (
      id uuid CONSTRAINT lms_integrations_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL CONSTRAINT lms_integrations_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      client_id bigint CONSTRAINT lms_integrations_client_fkey REFERENCES clients ON DELETE CASCADE,
      env text NOT NULL,
      sealed_secret text,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT lms_integrations_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION'))
    );
    COMMENT ON COLUMN lms_integrations.sealed_secret IS 'encrypted because it signs requests; NULL if not provisioned';
    CREATE INDEX lms_integrations_organisation_idx ON lms_integrations (organisation_id, env);
    COMMENT ON INDEX lms_integrations_organisation_idx IS 'lists the LMS integrations of an organisation';

    CREATE TABLE colending_events (
      id uuid CONSTRAINT colending_events_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL CONSTRAINT colending_events_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      integration_id uuid NOT NULL CONSTRAINT colending_events_integration_fkey REFERENCES lms_integrations ON DELETE CASCADE,
      source_key bytea NOT NULL,
      mapping text NOT NULL,
      source_event text,
      reason text,
      loan_ref bytea,
      body text,
      answer text NOT NULL,
      received_at timestamptz NOT NULL,
      CONSTRAINT colending_events_body_check CHECK ((body IS NULL) = (reason IS NOT NULL)),
      CONSTRAINT colending_events_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT colending_events_source_key UNIQUE (integration_id, source_key)
    );
    COMMENT ON COLUMN colending_events.source_key IS 'SHA-256 of the partner''s event id, or of the body; makes repeated events idempotent';
    COMMENT ON COLUMN colending_events.loan_ref IS 'keyed hash; the partner''s reference is not stored';
    COMMENT ON COLUMN colending_events.body IS 'canonical contract with its anchor; NULL if it could not be mapped';
    COMMENT ON COLUMN colending_events.answer IS 'response to the partner, returned again for a repeated event';
    CREATE INDEX colending_events_list_idx ON colending_events (organisation_id, env, seq DESC) WHERE body IS NOT NULL;
    COMMENT ON INDEX colending_events_list_idx IS 'lists the evidence of an organisation, newest first';
    CREATE INDEX colending_events_loan_idx ON colending_events (organisation_id, env, loan_ref, seq DESC)
      WHERE body IS NOT NULL;
    COMMENT ON INDEX colending_events_loan_idx IS 'lists the evidence of a loan, newest first';

    CREATE TABLE imports (
      id uuid CONSTRAINT imports_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL CONSTRAINT imports_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      kind text NOT NULL,
      style text NOT NULL,
      requested_mapping text,
      mapping text,
      state text NOT NULL DEFAULT 'UPLOADING',
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
      CONSTRAINT imports_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT imports_failure_check CHECK ((state = 'FAILED') = (failure IS NOT NULL)),
      CONSTRAINT imports_kind_check CHECK (kind IN ('TAPE', 'BUREAU')),
      CONSTRAINT imports_received_check CHECK (((state = 'UPLOADING') = (sha256 IS NULL)) AND ((sha256 IS NULL) = (received_at IS NULL)) AND ((sha256 IS NULL) = (bytes IS NULL))),
      CONSTRAINT imports_record_check CHECK ((record IS NOT NULL) = (state IN ('COMPLETED', 'COMPLETED_WITH_ERRORS'))),
      CONSTRAINT imports_state_check CHECK (state IN ('UPLOADING', 'RECEIVED', 'RUNNING', 'COMPLETED', 'COMPLETED_WITH_ERRORS', 'FAILED'))
    );
    COMMENT ON COLUMN imports.progress IS 'counts up to record_no; a worker resumes after it';
    COMMENT ON COLUMN imports.record IS 'anchored object with the root over the rows';
    COMMENT ON COLUMN imports.block_roots IS 'roots of the complete blocks of 512 rows, 32 bytes each, for proofs of rows';
    CREATE INDEX imports_content_idx ON imports (organisation_id, env, kind, sha256);
    COMMENT ON INDEX imports_content_idx IS 'finds an earlier import of the same file';
    CREATE INDEX imports_list_idx ON imports (organisation_id, env, kind, seq DESC);
    COMMENT ON INDEX imports_list_idx IS 'lists the imports of an organisation, newest first';
    CREATE INDEX imports_open_idx ON imports (created_at) WHERE state IN ('UPLOADING', 'RECEIVED', 'RUNNING');
    COMMENT ON INDEX imports_open_idx IS 'finds interrupted uploads and unfinished imports';

    CREATE TABLE import_chunks (
      import_id uuid NOT NULL CONSTRAINT import_chunks_import_fkey REFERENCES imports ON DELETE CASCADE,
      n integer NOT NULL,
      data bytea NOT NULL,
      CONSTRAINT import_chunks_pkey PRIMARY KEY (import_id, n)
    );
    COMMENT ON TABLE import_chunks IS 'encrypted file, kept until the import ends or for one day';

    CREATE TABLE import_errors (
      import_id uuid NOT NULL CONSTRAINT import_errors_import_fkey REFERENCES imports ON DELETE CASCADE,
      n integer NOT NULL,
      line integer NOT NULL,
      column_name text,
      code text NOT NULL,
      CONSTRAINT import_errors_pkey PRIMARY KEY (import_id, n)
    );
    COMMENT ON TABLE import_errors IS 'unreadable values by line and column; their content is not stored';

    CREATE TABLE import_rows (
      import_id uuid NOT NULL CONSTRAINT import_rows_import_fkey REFERENCES imports ON DELETE CASCADE,
      n integer NOT NULL,
      loan_ref bytea NOT NULL,
      hash bytea NOT NULL,
      body text NOT NULL,
      unread text[] NOT NULL,
      CONSTRAINT import_rows_loan_key UNIQUE (import_id, loan_ref),
      CONSTRAINT import_rows_pkey PRIMARY KEY (import_id, n)
    );
    COMMENT ON COLUMN import_rows.n IS 'position among the accepted rows of the file, and leaf index in the tree; from 0';
    COMMENT ON COLUMN import_rows.hash IS 'SHA-256 of the canonical row; leaf data of the Merkle tree';
    COMMENT ON COLUMN import_rows.body IS 'canonical row without the member unmapped, which lists the unmapped columns of the import and those in unread';

    CREATE TABLE trade_documents (
      id uuid CONSTRAINT trade_documents_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL CONSTRAINT trade_documents_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      type text NOT NULL,
      sha256 bytea NOT NULL,
      body text NOT NULL,
      sealed_values text NOT NULL,
      CONSTRAINT trade_documents_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION'))
    );
    COMMENT ON COLUMN trade_documents.body IS 'anchored object';
    COMMENT ON COLUMN trade_documents.sealed_values IS 'metadata with the salts of its commitments, and the signature';
    CREATE INDEX trade_documents_list_idx ON trade_documents (organisation_id, env, seq DESC);
    COMMENT ON INDEX trade_documents_list_idx IS 'lists the documents of an organisation, newest first';

    CREATE TABLE trade_verifications (
      id uuid CONSTRAINT trade_verifications_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL CONSTRAINT trade_verifications_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      subject_kind text NOT NULL,
      body text NOT NULL,
      sealed_values text NOT NULL,
      CONSTRAINT trade_verifications_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT trade_verifications_kind_check CHECK (subject_kind IN ('EBRC', 'SHIPPING_BILL', 'IEC'))
    );
    COMMENT ON COLUMN trade_verifications.body IS 'anchored object';
    COMMENT ON COLUMN trade_verifications.sealed_values IS 'requested values, and the invoices on a shipping bill';
    CREATE INDEX trade_verifications_list_idx ON trade_verifications (organisation_id, env, seq DESC);
    COMMENT ON INDEX trade_verifications_list_idx IS 'lists the verifications of an organisation, newest first';

    CREATE TABLE trade_packs (
      id uuid CONSTRAINT trade_packs_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL CONSTRAINT trade_packs_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      title text,
      envelope text NOT NULL,
      record text NOT NULL,
      public_key text NOT NULL,
      document_ids uuid[] NOT NULL,
      verification_ids uuid[] NOT NULL,
      pdf bytea NOT NULL,
      proof text,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT trade_packs_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION'))
    );
    COMMENT ON COLUMN trade_packs.envelope IS 'DSSE envelope: the statement and its signature';
    COMMENT ON COLUMN trade_packs.record IS 'anchored object with the hash of the statement';
    COMMENT ON COLUMN trade_packs.proof IS 'tlog-proof of the record, stored once the log includes it';
    CREATE INDEX trade_packs_list_idx ON trade_packs (organisation_id, env, seq DESC);
    COMMENT ON INDEX trade_packs_list_idx IS 'lists the packs of an organisation, newest first';

    CREATE TABLE pools (
      id uuid CONSTRAINT pools_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL CONSTRAINT pools_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      name text NOT NULL,
      size integer NOT NULL,
      built integer NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now(),
      deal_id text,
      CONSTRAINT pools_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT pools_size_check CHECK ((size >= 0) AND (size <= 50000))
    );
    COMMENT ON COLUMN pools.built IS 'number of leading members that have an evidence object';
    COMMENT ON COLUMN pools.deal_id IS 'deal id of the caller in events of this pool; NULL uses the pool id';
    CREATE INDEX pools_list_idx ON pools (organisation_id, env, seq DESC);
    COMMENT ON INDEX pools_list_idx IS 'lists the pools of an organisation, newest first';

    CREATE TABLE pool_members (
      pool_id uuid NOT NULL CONSTRAINT pool_members_pool_fkey REFERENCES pools ON DELETE CASCADE,
      place integer NOT NULL,
      reference text NOT NULL,
      sealed_item text NOT NULL,
      receivable_id uuid,
      payload_sha256 bytea,
      body text,
      identity text,
      document_date date,
      CONSTRAINT pool_members_pkey PRIMARY KEY (pool_id, place),
      CONSTRAINT pool_members_reference_key UNIQUE (pool_id, reference)
    );
    COMMENT ON COLUMN pool_members.reference IS 'reference chosen by the organisation';
    COMMENT ON COLUMN pool_members.body IS 'evidence object as anchored';
    COMMENT ON COLUMN pool_members.identity IS 'supplier, financial year, type and number, as in receivables.identity';
    CREATE INDEX pool_members_identity_idx ON pool_members (pool_id, identity);
    COMMENT ON INDEX pool_members_identity_idx IS 'finds a document that the pool already contains';
    CREATE INDEX pool_members_receivable_idx ON pool_members (pool_id, receivable_id);
    COMMENT ON INDEX pool_members_receivable_idx IS 'finds the position of a receivable in the pool, for its proof';

    CREATE TABLE pool_cuts (
      id uuid CONSTRAINT pool_cuts_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      pool_id uuid NOT NULL CONSTRAINT pool_cuts_pool_fkey REFERENCES pools ON DELETE CASCADE,
      size integer NOT NULL,
      chunks bytea NOT NULL,
      body text NOT NULL
    );
    COMMENT ON COLUMN pool_cuts.size IS 'number of leading pool members in the cut; the pool only grows';
    COMMENT ON COLUMN pool_cuts.chunks IS 'roots of the complete subtrees of 256 leaves, 32 bytes each';
    COMMENT ON COLUMN pool_cuts.body IS 'anchored object';
    CREATE INDEX pool_cuts_list_idx ON pool_cuts (pool_id, seq DESC);
    COMMENT ON INDEX pool_cuts_list_idx IS 'lists the cuts of a pool, newest first';

    CREATE TABLE pool_files (
      cut_id uuid NOT NULL CONSTRAINT pool_files_cut_fkey REFERENCES pool_cuts ON DELETE CASCADE,
      name text NOT NULL,
      n integer NOT NULL,
      length integer NOT NULL,
      piece bytea NOT NULL,
      CONSTRAINT pool_files_pkey PRIMARY KEY (cut_id, name, n)
    );
    COMMENT ON TABLE pool_files IS 'files of a cut, generated once; their bytes never change';
    COMMENT ON COLUMN pool_files.length IS 'size of the whole file in bytes; the same in each piece';

    CREATE TABLE eligibility_runs (
      id uuid CONSTRAINT eligibility_runs_pkey PRIMARY KEY,
      cut_id uuid NOT NULL CONSTRAINT eligibility_runs_cut_fkey REFERENCES pool_cuts ON DELETE CASCADE,
      rules text[] NOT NULL,
      results bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON COLUMN eligibility_runs.rules IS 'ids of the consumer''s rules, in the consumer''s order';
    COMMENT ON COLUMN eligibility_runs.results IS 'one byte per rule for each receivable in pool order: 0 MET, 1 NOT_MET, 2 MISSING';
    CREATE INDEX eligibility_runs_cut_idx ON eligibility_runs (cut_id);
    COMMENT ON INDEX eligibility_runs_cut_idx IS 'finds the runs of a cut; supports its deletion';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP TABLE eligibility_runs, pool_files, pool_cuts, pool_members, pools, trade_packs, trade_verifications, trade_documents, import_rows, import_errors, import_chunks, imports, colending_events, lms_integrations',
  )
}
