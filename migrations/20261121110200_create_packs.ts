import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE packs (
      id uuid CONSTRAINT packs_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL CONSTRAINT packs_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT packs_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      idempotency_key text,
      sealed_request text NOT NULL,
      deal_id text,
      state text NOT NULL DEFAULT 'QUEUED'
        CONSTRAINT packs_state_check CHECK (state IN ('QUEUED', 'READY', 'FAILED')),
      body text,
      signal_level text,
      tx_id bytea,
      failure_code text,
      requested_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz,
      CONSTRAINT packs_body_check CHECK ((state = 'READY') = (body IS NOT NULL))
    );
    CREATE INDEX packs_organisation_idx ON packs (organisation_id, env, requested_at DESC, id DESC);
    COMMENT ON INDEX packs_organisation_idx IS 'the packs of an organisation, newest first';
    COMMENT ON COLUMN packs.sealed_request IS 'encrypted: it may carry e-invoice tokens and consent handles';
    COMMENT ON COLUMN packs.body IS 'the answer, byte for byte as it was first given';

    CREATE TABLE pack_evidence (
      pack_id uuid NOT NULL CONSTRAINT pack_evidence_pack_fkey REFERENCES packs ON DELETE CASCADE,
      body text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT pack_evidence_pkey PRIMARY KEY (pack_id)
    );

    CREATE TABLE financing_fingerprints (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT financing_fingerprints_pkey PRIMARY KEY,
      env text NOT NULL,
      epoch integer NOT NULL,
      kind text NOT NULL,
      fingerprint bytea NOT NULL,
      organisation_id bigint NOT NULL
        CONSTRAINT financing_fingerprints_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      state text NOT NULL CONSTRAINT financing_fingerprints_state_check
        CHECK (state IN ('REGISTERED', 'FINANCED', 'RELEASED', 'CANCELLED', 'LAPSED')),
      record_id uuid NOT NULL,
      tx_id bytea,
      first_seen_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX financing_fingerprints_exact_key ON financing_fingerprints (env, epoch, kind, fingerprint)
      WHERE kind IN ('RF1', 'PO1') AND state IN ('REGISTERED', 'FINANCED');
    COMMENT ON INDEX financing_fingerprints_exact_key IS
      'who presented it first, also when two organisations do at the same moment';
    CREATE INDEX financing_fingerprints_match_idx ON financing_fingerprints (env, epoch, kind, fingerprint);
    COMMENT ON INDEX financing_fingerprints_match_idx IS 'what near and economic fingerprints match';
    CREATE UNIQUE INDEX financing_fingerprints_record_key ON financing_fingerprints (record_id, kind, fingerprint);
    COMMENT ON INDEX financing_fingerprints_record_key IS 'a record made again by a redelivered message stays one';
    COMMENT ON COLUMN financing_fingerprints.fingerprint IS 'a keyed hash; the fields it stands for are not stored';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE financing_fingerprints; DROP TABLE pack_evidence; DROP TABLE packs')
}
