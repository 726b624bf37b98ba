import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE financing_registrations (
      id uuid CONSTRAINT financing_registrations_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL CONSTRAINT financing_registrations_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      state text NOT NULL,
      mode text NOT NULL,
      deal_id text,
      sealed_receivable text,
      due_date date,
      financed_on date,
      renewals integer NOT NULL DEFAULT 0,
      contested boolean NOT NULL DEFAULT false,
      expires_at timestamptz NOT NULL,
      warned_at timestamptz,
      first_seen_at timestamptz NOT NULL DEFAULT now(),
      created_at timestamptz NOT NULL DEFAULT now(),
      record text NOT NULL,
      CONSTRAINT financing_registrations_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT financing_registrations_mode_check CHECK (mode IN ('FIELDS', 'BLIND')),
      CONSTRAINT financing_registrations_state_check CHECK (state IN ('REGISTERED', 'FINANCED', 'RELEASED', 'CANCELLED', 'LAPSED', 'TRANSFERRED'))
    );
    COMMENT ON COLUMN financing_registrations.sealed_receivable IS 'receivable fields with the salts of their commitments; shown to the owner only';
    COMMENT ON COLUMN financing_registrations.record IS 'latest anchored state of the registration';
    CREATE INDEX financing_registrations_expires_idx ON financing_registrations (expires_at)
      WHERE state IN ('REGISTERED', 'FINANCED');
    COMMENT ON INDEX financing_registrations_expires_idx IS 'sweep: expires registrations and finds those to warn about before expiry';
    CREATE INDEX financing_registrations_list_idx ON financing_registrations (organisation_id, env, created_at DESC, id DESC);
    COMMENT ON INDEX financing_registrations_list_idx IS 'lists the registrations of an organisation, newest first';

    CREATE TABLE financing_fingerprints (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT financing_fingerprints_pkey PRIMARY KEY,
      env text NOT NULL,
      epoch integer NOT NULL,
      kind text NOT NULL,
      fingerprint bytea NOT NULL,
      organisation_id bigint NOT NULL CONSTRAINT financing_fingerprints_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      state text NOT NULL,
      record_id uuid NOT NULL,
      tx_id bytea,
      first_seen_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz,
      CONSTRAINT financing_fingerprints_state_check CHECK (state IN ('REGISTERED', 'FINANCED', 'RELEASED', 'CANCELLED', 'LAPSED', 'TRANSFERRED'))
    );
    COMMENT ON COLUMN financing_fingerprints.fingerprint IS 'keyed hash; the underlying fields are not stored';
    COMMENT ON COLUMN financing_fingerprints.expires_at IS 'only for receivables presented by a pack; registrations have a separate expiry';
    CREATE UNIQUE INDEX financing_fingerprints_exact_key ON financing_fingerprints (env, epoch, kind, fingerprint)
      WHERE (kind IN ('RF1', 'PO1')) AND (state IN ('REGISTERED', 'FINANCED'));
    COMMENT ON INDEX financing_fingerprints_exact_key IS 'unique among live exact fingerprints: the first presenter wins, also in concurrent requests';
    CREATE INDEX financing_fingerprints_expires_idx ON financing_fingerprints (expires_at)
      WHERE (state = 'REGISTERED') AND (expires_at IS NOT NULL);
    COMMENT ON INDEX financing_fingerprints_expires_idx IS 'sweep: expires presented receivables';
    CREATE INDEX financing_fingerprints_match_idx ON financing_fingerprints (env, epoch, kind, fingerprint);
    COMMENT ON INDEX financing_fingerprints_match_idx IS 'matches near and economic fingerprints';
    CREATE UNIQUE INDEX financing_fingerprints_record_key ON financing_fingerprints (record_id, kind, fingerprint);
    COMMENT ON INDEX financing_fingerprints_record_key IS 'makes recording idempotent when a message is redelivered';

    CREATE TABLE financing_disputes (
      id uuid CONSTRAINT financing_disputes_pkey PRIMARY KEY,
      registration_id uuid NOT NULL CONSTRAINT financing_disputes_registration_fkey REFERENCES financing_registrations ON DELETE CASCADE,
      holder_id bigint NOT NULL CONSTRAINT financing_disputes_holder_fkey REFERENCES organisations ON DELETE CASCADE,
      organisation_id bigint NOT NULL CONSTRAINT financing_disputes_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      sealed_reason text NOT NULL,
      state text NOT NULL,
      record text NOT NULL,
      opened_at timestamptz NOT NULL DEFAULT now(),
      answer_by timestamptz NOT NULL,
      answered_at timestamptz,
      CONSTRAINT financing_disputes_state_check CHECK (state IN ('OPEN', 'CONFIRMED', 'RELEASED', 'UNANSWERED'))
    );
    CREATE INDEX financing_disputes_due_idx ON financing_disputes (answer_by) WHERE state = 'OPEN';
    COMMENT ON INDEX financing_disputes_due_idx IS 'sweep: finds disputes not answered in time';
    CREATE UNIQUE INDEX financing_disputes_open_key ON financing_disputes (registration_id, organisation_id)
      WHERE state = 'OPEN';
    COMMENT ON INDEX financing_disputes_open_key IS 'allows one open dispute per registration and organisation';

    CREATE TABLE financing_sightings (
      registration_id uuid NOT NULL CONSTRAINT financing_sightings_registration_fkey REFERENCES financing_registrations ON DELETE CASCADE,
      on_date date NOT NULL,
      count integer NOT NULL,
      CONSTRAINT financing_sightings_pkey PRIMARY KEY (registration_id, on_date)
    );
    COMMENT ON TABLE financing_sightings IS 'checks by other organisations per day in Indian time, without their identity';

    CREATE TABLE financing_snapshots (
      id uuid CONSTRAINT financing_snapshots_pkey PRIMARY KEY,
      env text NOT NULL,
      epoch integer NOT NULL,
      size integer NOT NULL,
      content bytea NOT NULL,
      keys bytea,
      record text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      evaluated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT financing_snapshots_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION'))
    );
    COMMENT ON TABLE financing_snapshots IS 'hourly snapshots of the registered fingerprints, for proofs of absence';
    COMMENT ON COLUMN financing_snapshots.content IS 'hash of the keys without the padding; detects changes';
    COMMENT ON COLUMN financing_snapshots.keys IS 'sorted, 32 bytes each, padded with random keys; NULL once no more proofs are issued from it';
    COMMENT ON COLUMN financing_snapshots.record IS 'anchored object with the root of the snapshot';
    COMMENT ON COLUMN financing_snapshots.evaluated_at IS 'when the snapshot was last confirmed as unchanged';
    CREATE INDEX financing_snapshots_latest_idx ON financing_snapshots (env, epoch, created_at DESC);
    COMMENT ON INDEX financing_snapshots_latest_idx IS 'finds the latest snapshot of an epoch; retention: deletes keys of old snapshots';

    CREATE TABLE financing_transfers (
      registration_id uuid CONSTRAINT financing_transfers_pkey PRIMARY KEY CONSTRAINT financing_transfers_registration_fkey REFERENCES financing_registrations ON DELETE CASCADE,
      token_digest bytea NOT NULL CONSTRAINT financing_transfers_token_key UNIQUE,
      expires_at timestamptz NOT NULL,
      spent_at timestamptz
    );
    COMMENT ON TABLE financing_transfers IS 'open transfer offer of a registration; a new offer replaces it';
    COMMENT ON COLUMN financing_transfers.spent_at IS 'time of use; the token is refused as spent until expires_at';

    CREATE TABLE acceptance_receivables (
      organisation_id bigint NOT NULL CONSTRAINT acceptance_receivables_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      receivable_ref text NOT NULL,
      supplier_gstin text NOT NULL,
      buyer_gstin text NOT NULL,
      identity text NOT NULL,
      document_date date NOT NULL,
      amount_paise bigint NOT NULL,
      CONSTRAINT acceptance_receivables_pkey PRIMARY KEY (organisation_id, env, receivable_ref)
    );
    COMMENT ON TABLE acceptance_receivables IS 'receivable fields for a reference, if its organisation has declared them';
    CREATE INDEX acceptance_receivables_pair_idx ON acceptance_receivables (organisation_id, env, supplier_gstin, buyer_gstin);
    COMMENT ON INDEX acceptance_receivables_pair_idx IS 'lists the receivables between a supplier and a buyer';

    CREATE TABLE acceptance_records (
      id uuid CONSTRAINT acceptance_records_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL CONSTRAINT acceptance_records_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      receivable_ref text NOT NULL,
      action text NOT NULL,
      registry_action text,
      body text NOT NULL,
      CONSTRAINT acceptance_records_action_check CHECK (action IN ('ACCEPTED', 'REJECTED', 'PENDING', 'DEEMED_ACCEPTED')),
      CONSTRAINT acceptance_records_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION'))
    );
    COMMENT ON COLUMN acceptance_records.registry_action IS 'response of the invoice-action registry, stored for reference';
    CREATE INDEX acceptance_records_ref_idx ON acceptance_records (organisation_id, env, receivable_ref, seq DESC);
    COMMENT ON INDEX acceptance_records_ref_idx IS 'lists the acceptance records of a receivable, newest first';

    CREATE TABLE acceptance_adjustments (
      id uuid CONSTRAINT acceptance_adjustments_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL CONSTRAINT acceptance_adjustments_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      receivable_ref text NOT NULL,
      kind text NOT NULL,
      amount_paise bigint NOT NULL,
      at timestamptz NOT NULL,
      body text NOT NULL
    );
    CREATE INDEX acceptance_adjustments_ref_idx ON acceptance_adjustments (organisation_id, env, receivable_ref, seq);
    COMMENT ON INDEX acceptance_adjustments_ref_idx IS 'lists the adjustments of a receivable in order';

    CREATE TABLE acceptance_requests (
      id uuid CONSTRAINT acceptance_requests_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL CONSTRAINT acceptance_requests_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      receivable_ref text NOT NULL,
      digest bytea NOT NULL CONSTRAINT acceptance_requests_digest_key UNIQUE,
      sealed_details text,
      codes_sent integer NOT NULL DEFAULT 0,
      code_digest bytea,
      code_expires_at timestamptz,
      wrong_codes integer NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      answered_at timestamptz,
      acceptance_id uuid,
      CONSTRAINT acceptance_requests_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION'))
    );
    COMMENT ON COLUMN acceptance_requests.digest IS 'digest of the token in the link; the token is not stored';
    COMMENT ON COLUMN acceptance_requests.sealed_details IS 'mailbox and receivable as JSON, encrypted under SECRET_KEY; NULL once answered or expired';
    COMMENT ON COLUMN acceptance_requests.wrong_codes IS 'wrong codes over the lifetime of the link; it is locked at five';
    CREATE INDEX acceptance_requests_ended_idx ON acceptance_requests (expires_at) WHERE sealed_details IS NOT NULL;
    COMMENT ON INDEX acceptance_requests_ended_idx IS 'sweep: deletes the mailboxes of requests that expired unanswered';
    CREATE INDEX acceptance_requests_ref_idx ON acceptance_requests (organisation_id, env, receivable_ref, created_at);
    COMMENT ON INDEX acceptance_requests_ref_idx IS 'lists the acceptance requests for a receivable in order';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP TABLE acceptance_requests, acceptance_adjustments, acceptance_records, acceptance_receivables, financing_transfers, financing_snapshots, financing_sightings, financing_disputes, financing_fingerprints, financing_registrations',
  )
}
