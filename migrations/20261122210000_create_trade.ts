import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE trade_documents (
      id uuid CONSTRAINT trade_documents_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL
        CONSTRAINT trade_documents_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT trade_documents_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      type text NOT NULL,
      sha256 bytea NOT NULL,
      body text NOT NULL,
      sealed_values text NOT NULL
    );
    CREATE INDEX trade_documents_list_idx ON trade_documents (organisation_id, env, seq DESC);
    COMMENT ON INDEX trade_documents_list_idx IS 'the documents of an organisation, newest first';
    COMMENT ON COLUMN trade_documents.body IS 'the anchored object';
    COMMENT ON COLUMN trade_documents.sealed_values IS 'metadata with the salts of its commitments, and the signature';

    CREATE TABLE trade_verifications (
      id uuid CONSTRAINT trade_verifications_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL
        CONSTRAINT trade_verifications_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT trade_verifications_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      subject_kind text NOT NULL CONSTRAINT trade_verifications_kind_check
        CHECK (subject_kind IN ('EBRC', 'SHIPPING_BILL', 'IEC')),
      body text NOT NULL,
      sealed_values text NOT NULL
    );
    CREATE INDEX trade_verifications_list_idx ON trade_verifications (organisation_id, env, seq DESC);
    COMMENT ON INDEX trade_verifications_list_idx IS 'the verifications of an organisation, newest first';
    COMMENT ON COLUMN trade_verifications.body IS 'the anchored object';
    COMMENT ON COLUMN trade_verifications.sealed_values IS 'what was requested about, and the invoices on a bill';

    CREATE TABLE trade_packs (
      id uuid CONSTRAINT trade_packs_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL
        CONSTRAINT trade_packs_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT trade_packs_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      title text,
      envelope text NOT NULL,
      record text NOT NULL,
      public_key text NOT NULL,
      document_ids uuid[] NOT NULL,
      verification_ids uuid[] NOT NULL,
      pdf bytea NOT NULL,
      proof text,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX trade_packs_list_idx ON trade_packs (organisation_id, env, seq DESC);
    COMMENT ON INDEX trade_packs_list_idx IS 'the packs of an organisation, newest first';
    COMMENT ON COLUMN trade_packs.envelope IS 'the DSSE envelope: the statement and its signature';
    COMMENT ON COLUMN trade_packs.record IS 'the anchored object, which names the hash of the statement';
    COMMENT ON COLUMN trade_packs.proof IS 'tlog-proof of the record, kept once the log includes it';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE trade_packs; DROP TABLE trade_verifications; DROP TABLE trade_documents')
}
