import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE identity_subjects (
      id uuid CONSTRAINT identity_subjects_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL CONSTRAINT identity_subjects_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      ref text NOT NULL CONSTRAINT identity_subjects_ref_key UNIQUE,
      kind text NOT NULL,
      state text NOT NULL DEFAULT 'UNVERIFIED',
      sealed_external_ref text,
      assurance_level text NOT NULL DEFAULT 'NONE',
      assurance_expires_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT identity_subjects_assurance_check CHECK (assurance_level IN ('HIGH', 'SUBSTANTIAL', 'LOW', 'NONE')),
      CONSTRAINT identity_subjects_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT identity_subjects_kind_check CHECK (kind IN ('PERSON', 'BUSINESS')),
      CONSTRAINT identity_subjects_state_check CHECK (state IN ('UNVERIFIED', 'PENDING', 'VERIFIED', 'EXPIRED', 'SUSPENDED', 'REVOKED'))
    );
    COMMENT ON COLUMN identity_subjects.sealed_external_ref IS 'name that the organisation uses for the subject; deleted on erasure';
    CREATE INDEX identity_subjects_expiry_idx ON identity_subjects (assurance_expires_at) WHERE state = 'VERIFIED';
    COMMENT ON INDEX identity_subjects_expiry_idx IS 'sweep: finds subjects whose assurance expires';
    CREATE INDEX identity_subjects_list_idx ON identity_subjects (organisation_id, env, seq DESC);
    COMMENT ON INDEX identity_subjects_list_idx IS 'lists the subjects of an organisation, newest first';

    CREATE TABLE identity_transitions (
      id uuid CONSTRAINT identity_transitions_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      subject_id uuid NOT NULL CONSTRAINT identity_transitions_subject_fkey REFERENCES identity_subjects ON DELETE CASCADE,
      body text NOT NULL,
      sealed_reason text
    );
    COMMENT ON COLUMN identity_transitions.body IS 'anchored object';
    COMMENT ON COLUMN identity_transitions.sealed_reason IS 'reason in the words of the caller; deleted on erasure';
    CREATE INDEX identity_transitions_list_idx ON identity_transitions (subject_id, seq DESC);
    COMMENT ON INDEX identity_transitions_list_idx IS 'lists the state transitions of a subject, newest first; supports its erasure';

    CREATE TABLE consents (
      id uuid CONSTRAINT consents_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL CONSTRAINT consents_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      subject_id uuid NOT NULL CONSTRAINT consents_subject_fkey REFERENCES identity_subjects ON DELETE CASCADE,
      purpose text NOT NULL,
      fields text[] NOT NULL,
      expires_at timestamptz NOT NULL,
      withdrawn_at timestamptz,
      record text NOT NULL,
      withdrawal text,
      CONSTRAINT consents_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT consents_withdrawal_check CHECK ((withdrawn_at IS NULL) = (withdrawal IS NULL))
    );
    COMMENT ON COLUMN consents.record IS 'anchored consent; its withdrawal has a separate anchored object';
    CREATE INDEX consents_list_idx ON consents (organisation_id, env, seq DESC);
    COMMENT ON INDEX consents_list_idx IS 'lists the consents recorded by an organisation, newest first';
    CREATE INDEX consents_subject_idx ON consents (subject_id, seq DESC);
    COMMENT ON INDEX consents_subject_idx IS 'lists the consents of a subject';

    CREATE TABLE erasures (
      subject_id uuid CONSTRAINT erasures_pkey PRIMARY KEY CONSTRAINT erasures_subject_fkey REFERENCES identity_subjects ON DELETE CASCADE,
      body text NOT NULL,
      erased_at timestamptz NOT NULL
    );
    COMMENT ON COLUMN erasures.body IS 'anchored receipt; a repeated erasure returns the same one';

    CREATE TABLE presentations (
      id uuid CONSTRAINT presentations_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL CONSTRAINT presentations_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      subject_id uuid CONSTRAINT presentations_subject_fkey REFERENCES identity_subjects ON DELETE CASCADE,
      deal_id text,
      purpose text NOT NULL,
      query text NOT NULL,
      response_mode text NOT NULL,
      redirect_uri text,
      retain_hours smallint NOT NULL,
      client_id text NOT NULL,
      handle_digest bytea NOT NULL CONSTRAINT presentations_handle_key UNIQUE,
      sealed_secrets text NOT NULL,
      state text NOT NULL DEFAULT 'CREATED',
      fetches smallint NOT NULL DEFAULT 0,
      refusals smallint NOT NULL DEFAULT 0,
      reasons text[] NOT NULL DEFAULT '{}',
      wallet_error text,
      sealed_form text,
      response_code_digest bytea,
      fields text[] NOT NULL DEFAULT '{}',
      issuer text,
      tier text,
      assurance text,
      credential_expires_at timestamptz,
      discarded integer NOT NULL DEFAULT 0,
      record text,
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      received_at timestamptz,
      finished_at timestamptz,
      CONSTRAINT presentations_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT presentations_form_check CHECK ((state = 'RECEIVED') = (sealed_form IS NOT NULL)),
      CONSTRAINT presentations_mode_check CHECK (response_mode IN ('direct_post', 'direct_post.jwt')),
      CONSTRAINT presentations_record_check CHECK ((state = 'VERIFIED') = (record IS NOT NULL)),
      CONSTRAINT presentations_state_check CHECK (state IN ('CREATED', 'REQUEST_FETCHED', 'RECEIVED', 'VERIFIED', 'REJECTED', 'EXPIRED'))
    );
    COMMENT ON COLUMN presentations.handle_digest IS 'SHA-256 of the handle at the end of the request and response URLs';
    COMMENT ON COLUMN presentations.sealed_secrets IS 'handle, nonce, state and the private key for encrypted responses';
    COMMENT ON COLUMN presentations.sealed_form IS 'form that the wallet posted, kept while the worker needs it';
    COMMENT ON COLUMN presentations.record IS 'anchored object with field names and commitments, without values';
    CREATE INDEX presentations_expiry_idx ON presentations (expires_at) WHERE state IN ('CREATED', 'REQUEST_FETCHED');
    COMMENT ON INDEX presentations_expiry_idx IS 'sweep: expires requests that were not answered in time';
    CREATE INDEX presentations_list_idx ON presentations (organisation_id, env, seq DESC);
    COMMENT ON INDEX presentations_list_idx IS 'lists the presentations of an organisation, newest first';
    CREATE INDEX presentations_subject_idx ON presentations (subject_id) WHERE subject_id IS NOT NULL;
    COMMENT ON INDEX presentations_subject_idx IS 'lists the presentations of a subject; supports its erasure';
    CREATE INDEX presentations_unsettled_idx ON presentations (received_at) WHERE state = 'RECEIVED';
    COMMENT ON INDEX presentations_unsettled_idx IS 'sweep: finds responses that could not be verified in time, to delete their form';

    CREATE TABLE presentation_values (
      presentation_id uuid CONSTRAINT presentation_values_pkey PRIMARY KEY CONSTRAINT presentation_values_presentation_fkey REFERENCES presentations ON DELETE CASCADE,
      sealed_values text NOT NULL,
      sealed_status text,
      purge_at timestamptz NOT NULL,
      credential_digests bytea[] NOT NULL DEFAULT '{}'
    );
    COMMENT ON COLUMN presentation_values.sealed_values IS 'disclosed values with the salts of their commitments';
    COMMENT ON COLUMN presentation_values.credential_digests IS 'SHA-256 of presented sandbox credentials; stored responses that contain one are deleted with the values';
    CREATE INDEX presentation_values_purge_idx ON presentation_values (purge_at);
    COMMENT ON INDEX presentation_values_purge_idx IS 'sweep: deletes expired values';

    CREATE TABLE presentation_redirects (
      organisation_id bigint NOT NULL CONSTRAINT presentation_redirects_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      uri text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT presentation_redirects_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT presentation_redirects_pkey PRIMARY KEY (organisation_id, env, uri)
    );

    CREATE TABLE identity_verifications (
      id uuid CONSTRAINT identity_verifications_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      subject_id uuid NOT NULL CONSTRAINT identity_verifications_subject_fkey REFERENCES identity_subjects ON DELETE CASCADE,
      key text NOT NULL,
      tier text NOT NULL,
      missing_reason text,
      is_high boolean NOT NULL DEFAULT false,
      raw_sha256 text,
      presentation_id uuid CONSTRAINT identity_verifications_presentation_key UNIQUE CONSTRAINT identity_verifications_presentation_fkey REFERENCES presentations ON DELETE SET NULL,
      consent_id uuid CONSTRAINT identity_verifications_consent_fkey REFERENCES consents ON DELETE SET NULL,
      observed_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      revoked_at timestamptz,
      sealed_values text,
      sealed_status text,
      status_checked_at timestamptz,
      CONSTRAINT identity_verifications_tier_check CHECK ((tier = 'MISSING') = (missing_reason IS NOT NULL))
    );
    COMMENT ON COLUMN identity_verifications.key IS 'verified factor, for example presentation or registry.pan';
    COMMENT ON COLUMN identity_verifications.sealed_values IS 'identifier queried in a registry';
    COMMENT ON COLUMN identity_verifications.sealed_status IS 'location of the status of a presented credential';
    CREATE INDEX identity_verifications_consent_idx ON identity_verifications (consent_id) WHERE consent_id IS NOT NULL;
    COMMENT ON INDEX identity_verifications_consent_idx IS 'finds the verifications made under a consent; supports its withdrawal';
    CREATE INDEX identity_verifications_list_idx ON identity_verifications (subject_id, seq DESC);
    COMMENT ON INDEX identity_verifications_list_idx IS 'lists the verified factors of a subject, newest first; supports its erasure';
    CREATE INDEX identity_verifications_seq_idx ON identity_verifications (seq DESC);
    COMMENT ON INDEX identity_verifications_seq_idx IS 'lists the verifications of an organisation, newest first';
    CREATE INDEX identity_verifications_status_idx ON identity_verifications (status_checked_at)
      WHERE (sealed_status IS NOT NULL) AND (revoked_at IS NULL);
    COMMENT ON INDEX identity_verifications_status_idx IS 'sweep: finds credentials whose status must be refreshed';

    CREATE TABLE trusted_issuers (
      id uuid CONSTRAINT trusted_issuers_pkey PRIMARY KEY,
      organisation_id bigint CONSTRAINT trusted_issuers_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      iss text NOT NULL,
      vct_values text[] NOT NULL,
      jwks text,
      ca_certificates text[] NOT NULL DEFAULT '{}',
      status_hosts text[] NOT NULL DEFAULT '{}',
      has_metadata boolean NOT NULL DEFAULT false,
      assurance text NOT NULL DEFAULT 'SUBSTANTIAL',
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT trusted_issuers_assurance_check CHECK (assurance IN ('HIGH', 'SUBSTANTIAL')),
      CONSTRAINT trusted_issuers_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT trusted_issuers_iss_key UNIQUE NULLS NOT DISTINCT (organisation_id, env, iss)
    );
    COMMENT ON COLUMN trusted_issuers.organisation_id IS 'organisation that trusts the issuer; NULL if the operator trusts it for all organisations';

    CREATE TABLE status_lists (
      n bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT status_lists_pkey PRIMARY KEY,
      env text NOT NULL,
      used integer NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT status_lists_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION'))
    );

    CREATE TABLE status_list_entries (
      list_n bigint NOT NULL CONSTRAINT status_list_entries_list_fkey REFERENCES status_lists,
      idx integer NOT NULL,
      CONSTRAINT status_list_entries_pkey PRIMARY KEY (list_n, idx)
    );
    COMMENT ON TABLE status_list_entries IS 'allocated status list indexes, without their recipients';

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
      CONSTRAINT passports_revocation_check CHECK ((revoked_at IS NULL) = (revocation IS NULL)),
      CONSTRAINT passports_idx_key UNIQUE (list_n, idx)
    );
    COMMENT ON COLUMN passports.body IS 'anchored object';
    COMMENT ON COLUMN passports.credential IS 'same content as SD-JWT VC; it has no names, so selective disclosure is not needed';
    CREATE INDEX passports_revoked_idx ON passports (list_n, idx) WHERE revoked_at IS NOT NULL;
    COMMENT ON INDEX passports_revoked_idx IS 'status list: finds the revoked entries';
    CREATE INDEX passports_seq_idx ON passports (seq DESC);
    COMMENT ON INDEX passports_seq_idx IS 'lists the passports of an organisation, newest first';
    CREATE INDEX passports_subject_idx ON passports (subject_id, seq DESC);
    COMMENT ON INDEX passports_subject_idx IS 'lists the passports of a subject, newest first; supports its erasure';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP TABLE passports, status_list_entries, status_lists, trusted_issuers, identity_verifications, presentation_redirects, presentation_values, presentations, erasures, consents, identity_transitions, identity_subjects',
  )
}
