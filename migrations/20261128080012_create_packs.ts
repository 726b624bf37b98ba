import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE evidence_jobs (
      id uuid CONSTRAINT evidence_jobs_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL CONSTRAINT evidence_jobs_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      kind text NOT NULL,
      idempotency_key text,
      job_key bytea,
      sealed_request text,
      state text NOT NULL DEFAULT 'QUEUED',
      status smallint,
      body text,
      requested_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz,
      CONSTRAINT evidence_jobs_body_check CHECK ((state = 'QUEUED') = (body IS NULL)),
      CONSTRAINT evidence_jobs_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT evidence_jobs_request_check CHECK ((state = 'QUEUED') = (sealed_request IS NOT NULL)),
      CONSTRAINT evidence_jobs_state_check CHECK (state IN ('QUEUED', 'DONE', 'REFUSED'))
    );
    COMMENT ON COLUMN evidence_jobs.sealed_request IS 'encrypted while the worker needs it, then NULL';
    COMMENT ON COLUMN evidence_jobs.body IS 'response as first returned; the reason for a REFUSED job';
    CREATE INDEX evidence_jobs_list_idx ON evidence_jobs (organisation_id, env, kind, requested_at DESC, id DESC);
    COMMENT ON INDEX evidence_jobs_list_idx IS 'lists the jobs of an organisation by kind, newest first';
    CREATE UNIQUE INDEX evidence_jobs_job_key ON evidence_jobs (organisation_id, env, kind, job_key)
      WHERE job_key IS NOT NULL;
    COMMENT ON INDEX evidence_jobs_job_key IS 'shares one job and its response between equal requests of a day';

    CREATE TABLE packs (
      id uuid CONSTRAINT packs_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL CONSTRAINT packs_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      idempotency_key text,
      sealed_request text NOT NULL,
      deal_id text,
      state text NOT NULL DEFAULT 'QUEUED',
      body text,
      signal_level text,
      tx_id bytea,
      failure_code text,
      requested_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz,
      pair_job_key bytea,
      CONSTRAINT packs_body_check CHECK ((state = 'READY') = (body IS NOT NULL)),
      CONSTRAINT packs_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT packs_state_check CHECK (state IN ('QUEUED', 'READY', 'FAILED'))
    );
    COMMENT ON COLUMN packs.sealed_request IS 'encrypted because it may contain e-invoice tokens and consent handles';
    COMMENT ON COLUMN packs.body IS 'response, byte for byte as first returned';
    COMMENT ON COLUMN packs.pair_job_key IS 'key of the dilution job of borrower and buyer on the request day; matches evidence_jobs.job_key';
    CREATE INDEX packs_organisation_idx ON packs (organisation_id, env, requested_at DESC, id DESC);
    COMMENT ON INDEX packs_organisation_idx IS 'lists the packs of an organisation, newest first';

    CREATE TABLE pack_evidence (
      pack_id uuid CONSTRAINT pack_evidence_pkey PRIMARY KEY CONSTRAINT pack_evidence_pack_fkey REFERENCES packs ON DELETE CASCADE,
      body text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE TABLE pack_pdfs (
      pack_id uuid CONSTRAINT pack_pdfs_pkey PRIMARY KEY CONSTRAINT pack_pdfs_pack_fkey REFERENCES packs ON DELETE CASCADE,
      sha256 bytea NOT NULL,
      bytes bytea NOT NULL,
      statement text NOT NULL,
      tx_id bytea NOT NULL,
      composed_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT pack_pdfs_sha256_check CHECK (length(sha256) = 32)
    );
    COMMENT ON COLUMN pack_pdfs.bytes IS 'document as first composed; it is never composed again';
    COMMENT ON COLUMN pack_pdfs.statement IS 'anchored JSON with the hash of the file, and its anchor';
    CREATE INDEX pack_pdfs_sha256_idx ON pack_pdfs (sha256);
    COMMENT ON INDEX pack_pdfs_sha256_idx IS 'verification page: finds the anchored statement for a file';

    CREATE TABLE pack_shares (
      id uuid CONSTRAINT pack_shares_pkey PRIMARY KEY,
      pack_id uuid NOT NULL CONSTRAINT pack_shares_pack_fkey REFERENCES packs ON DELETE CASCADE,
      digest bytea NOT NULL CONSTRAINT pack_shares_digest_key UNIQUE,
      created_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      revoked_at timestamptz
    );
    COMMENT ON COLUMN pack_shares.digest IS 'digest of the token in the link; the token is shown once and not stored';
    CREATE INDEX pack_shares_pack_idx ON pack_shares (pack_id, created_at DESC);
    COMMENT ON INDEX pack_shares_pack_idx IS 'lists the share links of a pack, newest first';

    CREATE TABLE order_records (
      id uuid CONSTRAINT order_records_pkey PRIMARY KEY,
      pack_id uuid NOT NULL CONSTRAINT order_records_pack_key UNIQUE CONSTRAINT order_records_pack_fkey REFERENCES packs ON DELETE CASCADE,
      body text NOT NULL
    );
    COMMENT ON TABLE order_records IS 'anchored object of each purchase order that was presented for the first time';

    CREATE TABLE receivables (
      id uuid CONSTRAINT receivables_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL CONSTRAINT receivables_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      ref text NOT NULL,
      body text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      identity text NOT NULL,
      CONSTRAINT receivables_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT receivables_identity_key UNIQUE (organisation_id, env, identity)
    );
    COMMENT ON COLUMN receivables.ref IS 'reference chosen by the organisation';
    COMMENT ON COLUMN receivables.body IS 'evidence object in canonical form with its anchor';
    COMMENT ON COLUMN receivables.identity IS 'supplier, financial year, type and number, because two suppliers may use the same number';
    CREATE INDEX receivables_ref_idx ON receivables (organisation_id, env, ref);
    COMMENT ON INDEX receivables_ref_idx IS 'finds the receivables of an organisation by its reference';

    CREATE TABLE events (
      id uuid CONSTRAINT events_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL CONSTRAINT events_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      type text NOT NULL,
      deal_id text NOT NULL,
      body text NOT NULL,
      occurred_at timestamptz NOT NULL,
      CONSTRAINT events_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION'))
    );
    COMMENT ON COLUMN events.body IS 'payload in canonical form with its anchor; exactly these bytes are signed and sent';
    CREATE INDEX events_organisation_idx ON events (organisation_id, env, occurred_at DESC, id DESC);
    COMMENT ON INDEX events_organisation_idx IS 'lists the events of an organisation, newest first';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP TABLE events, receivables, order_records, pack_shares, pack_pdfs, pack_evidence, packs, evidence_jobs',
  )
}
