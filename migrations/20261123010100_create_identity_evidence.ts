import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE identity_transitions (
      id uuid CONSTRAINT identity_transitions_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      subject_id uuid NOT NULL
        CONSTRAINT identity_transitions_subject_fkey REFERENCES identity_subjects ON DELETE CASCADE,
      body text NOT NULL,
      sealed_reason text
    );
    CREATE INDEX identity_transitions_list_idx ON identity_transitions (subject_id, seq DESC);
    COMMENT ON INDEX identity_transitions_list_idx IS 'the states of a subject, newest first; its erasure';
    COMMENT ON COLUMN identity_transitions.body IS 'the anchored object';
    COMMENT ON COLUMN identity_transitions.sealed_reason IS 'in the words of the caller; erasure deletes it';

    CREATE TABLE consents (
      id uuid CONSTRAINT consents_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL
        CONSTRAINT consents_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT consents_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      subject_id uuid NOT NULL CONSTRAINT consents_subject_fkey REFERENCES identity_subjects ON DELETE CASCADE,
      purpose text NOT NULL,
      fields text[] NOT NULL,
      expires_at timestamptz NOT NULL,
      withdrawn_at timestamptz,
      record text NOT NULL,
      withdrawal text,
      CONSTRAINT consents_withdrawal_check CHECK ((withdrawn_at IS NULL) = (withdrawal IS NULL))
    );
    CREATE INDEX consents_list_idx ON consents (organisation_id, env, seq DESC);
    COMMENT ON INDEX consents_list_idx IS 'the consents that an organisation recorded, newest first';
    CREATE INDEX consents_subject_idx ON consents (subject_id, seq DESC);
    COMMENT ON INDEX consents_subject_idx IS 'the consents of a subject';
    COMMENT ON COLUMN consents.record IS 'the anchored object; of its withdrawal there is another';

    CREATE TABLE identity_verifications (
      id uuid CONSTRAINT identity_verifications_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      subject_id uuid NOT NULL
        CONSTRAINT identity_verifications_subject_fkey REFERENCES identity_subjects ON DELETE CASCADE,
      key text NOT NULL,
      tier text NOT NULL,
      missing_reason text,
      is_high boolean NOT NULL DEFAULT false,
      raw_sha256 text,
      presentation_id uuid
        CONSTRAINT identity_verifications_presentation_fkey REFERENCES presentations ON DELETE SET NULL,
      consent_id uuid CONSTRAINT identity_verifications_consent_fkey REFERENCES consents ON DELETE SET NULL,
      observed_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      revoked_at timestamptz,
      sealed_values text,
      sealed_status text,
      status_checked_at timestamptz,
      CONSTRAINT identity_verifications_presentation_key UNIQUE (presentation_id),
      CONSTRAINT identity_verifications_tier_check CHECK ((tier = 'MISSING') = (missing_reason IS NOT NULL))
    );
    CREATE INDEX identity_verifications_list_idx ON identity_verifications (subject_id, seq DESC);
    COMMENT ON INDEX identity_verifications_list_idx IS 'the factors of a subject, newest first; its erasure';
    CREATE INDEX identity_verifications_consent_idx ON identity_verifications (consent_id) WHERE consent_id IS NOT NULL;
    COMMENT ON INDEX identity_verifications_consent_idx IS 'what was read under a consent: its withdrawal';
    CREATE INDEX identity_verifications_status_idx ON identity_verifications (status_checked_at)
      WHERE sealed_status IS NOT NULL AND revoked_at IS NULL;
    COMMENT ON INDEX identity_verifications_status_idx IS 'the sweeper: credentials whose status is to be looked up again';
    COMMENT ON COLUMN identity_verifications.key IS 'what was verified, such as presentation or registry.pan';
    COMMENT ON COLUMN identity_verifications.sealed_values IS 'the identifier that a registry was requested for';
    COMMENT ON COLUMN identity_verifications.sealed_status IS 'where the status of a presented credential is looked up';

    CREATE TABLE status_lists (
      n bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT status_lists_pkey PRIMARY KEY,
      env text NOT NULL CONSTRAINT status_lists_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      used integer NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE TABLE status_list_entries (
      list_n bigint NOT NULL CONSTRAINT status_list_entries_list_fkey REFERENCES status_lists,
      idx integer NOT NULL,
      CONSTRAINT status_list_entries_pkey PRIMARY KEY (list_n, idx)
    );
    COMMENT ON TABLE status_list_entries IS 'places that were given out, to whomsoever';

    CREATE TABLE passports (
      id uuid CONSTRAINT passports_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      subject_id uuid NOT NULL CONSTRAINT passports_subject_fkey REFERENCES identity_subjects ON DELETE CASCADE,
      list_n bigint NOT NULL CONSTRAINT passports_list_fkey REFERENCES status_lists,
      idx integer NOT NULL,
      body text NOT NULL,
      credential text NOT NULL,
      expires_at timestamptz NOT NULL,
      revoked_at timestamptz,
      revocation text,
      sealed_reason text,
      CONSTRAINT passports_idx_key UNIQUE (list_n, idx),
      CONSTRAINT passports_revocation_check CHECK ((revoked_at IS NULL) = (revocation IS NULL))
    );
    CREATE INDEX passports_subject_idx ON passports (subject_id, seq DESC);
    COMMENT ON INDEX passports_subject_idx IS 'the passports of a subject, newest first; its erasure';
    CREATE INDEX passports_revoked_idx ON passports (list_n, idx) WHERE revoked_at IS NOT NULL;
    COMMENT ON INDEX passports_revoked_idx IS 'the status list: what is revoked';
    COMMENT ON COLUMN passports.body IS 'the anchored object';
    COMMENT ON COLUMN passports.credential IS 'the same as SD-JWT VC; without names, so there is nothing to disclose';

    CREATE TABLE erasures (
      subject_id uuid CONSTRAINT erasures_pkey PRIMARY KEY
        CONSTRAINT erasures_subject_fkey REFERENCES identity_subjects ON DELETE CASCADE,
      body text NOT NULL,
      erased_at timestamptz NOT NULL
    );
    COMMENT ON COLUMN erasures.body IS 'the anchored receipt: a second erasure gives the same';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    `DROP TABLE erasures; DROP TABLE passports; DROP TABLE status_list_entries; DROP TABLE status_lists; DROP TABLE identity_verifications;
     DROP TABLE consents; DROP TABLE identity_transitions`,
  )
}
