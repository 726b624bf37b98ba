import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE identity_subjects (
      id uuid CONSTRAINT identity_subjects_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL
        CONSTRAINT identity_subjects_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT identity_subjects_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      ref text NOT NULL CONSTRAINT identity_subjects_ref_key UNIQUE,
      kind text NOT NULL CONSTRAINT identity_subjects_kind_check CHECK (kind IN ('PERSON', 'BUSINESS')),
      state text NOT NULL DEFAULT 'UNVERIFIED' CONSTRAINT identity_subjects_state_check
        CHECK (state IN ('UNVERIFIED', 'PENDING', 'VERIFIED', 'EXPIRED', 'SUSPENDED', 'REVOKED')),
      sealed_external_ref text,
      assurance_level text NOT NULL DEFAULT 'NONE' CONSTRAINT identity_subjects_assurance_check
        CHECK (assurance_level IN ('HIGH', 'SUBSTANTIAL', 'LOW', 'NONE')),
      assurance_expires_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX identity_subjects_list_idx ON identity_subjects (organisation_id, env, seq DESC);
    COMMENT ON INDEX identity_subjects_list_idx IS 'the subjects of an organisation, newest first';
    CREATE INDEX identity_subjects_expiry_idx ON identity_subjects (assurance_expires_at) WHERE state = 'VERIFIED';
    COMMENT ON INDEX identity_subjects_expiry_idx IS 'the sweeper: subjects whose assurance ends';
    COMMENT ON COLUMN identity_subjects.sealed_external_ref IS 'what the organisation calls it; erasure deletes it';

    CREATE TABLE presentations (
      id uuid CONSTRAINT presentations_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL
        CONSTRAINT presentations_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT presentations_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      subject_id uuid CONSTRAINT presentations_subject_fkey REFERENCES identity_subjects ON DELETE CASCADE,
      deal_id text,
      purpose text NOT NULL,
      query text NOT NULL,
      response_mode text NOT NULL
        CONSTRAINT presentations_mode_check CHECK (response_mode IN ('direct_post', 'direct_post.jwt')),
      redirect_uri text,
      retain_hours smallint NOT NULL,
      client_id text NOT NULL,
      handle_digest bytea NOT NULL CONSTRAINT presentations_handle_key UNIQUE,
      sealed_secrets text NOT NULL,
      state text NOT NULL DEFAULT 'CREATED' CONSTRAINT presentations_state_check
        CHECK (state IN ('CREATED', 'REQUEST_FETCHED', 'RECEIVED', 'VERIFIED', 'REJECTED', 'EXPIRED')),
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
      CONSTRAINT presentations_form_check CHECK ((state = 'RECEIVED') = (sealed_form IS NOT NULL)),
      CONSTRAINT presentations_record_check CHECK ((state = 'VERIFIED') = (record IS NOT NULL))
    );
    CREATE INDEX presentations_list_idx ON presentations (organisation_id, env, seq DESC);
    COMMENT ON INDEX presentations_list_idx IS 'the presentations of an organisation, newest first';
    CREATE INDEX presentations_expiry_idx ON presentations (expires_at) WHERE state IN ('CREATED', 'REQUEST_FETCHED');
    COMMENT ON INDEX presentations_expiry_idx IS 'the sweeper: requests that nobody answered in time';
    CREATE INDEX presentations_subject_idx ON presentations (subject_id) WHERE subject_id IS NOT NULL;
    COMMENT ON INDEX presentations_subject_idx IS 'what a subject presented: its erasure';
    COMMENT ON COLUMN presentations.handle_digest IS 'SHA-256 of what the addresses of request and response end in';
    COMMENT ON COLUMN presentations.sealed_secrets IS 'handle, nonce, state and the private key of encrypted answers';
    COMMENT ON COLUMN presentations.sealed_form IS 'what the wallet posted, while the worker needs it';
    COMMENT ON COLUMN presentations.record IS 'the anchored object: names of fields and commitments, no values';

    CREATE TABLE presentation_values (
      presentation_id uuid CONSTRAINT presentation_values_pkey PRIMARY KEY
        CONSTRAINT presentation_values_presentation_fkey REFERENCES presentations ON DELETE CASCADE,
      sealed_values text NOT NULL,
      sealed_status text,
      purge_at timestamptz NOT NULL
    );
    CREATE INDEX presentation_values_purge_idx ON presentation_values (purge_at);
    COMMENT ON INDEX presentation_values_purge_idx IS 'the sweeper: values whose time is over';
    COMMENT ON COLUMN presentation_values.sealed_values IS 'disclosed values with the salts of their commitments';

    CREATE TABLE trusted_issuers (
      id uuid CONSTRAINT trusted_issuers_pkey PRIMARY KEY,
      organisation_id bigint
        CONSTRAINT trusted_issuers_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT trusted_issuers_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      iss text NOT NULL,
      vct_values text[] NOT NULL,
      jwks text,
      ca_certificates text[] NOT NULL DEFAULT '{}',
      status_hosts text[] NOT NULL DEFAULT '{}',
      has_metadata boolean NOT NULL DEFAULT false,
      assurance text NOT NULL DEFAULT 'SUBSTANTIAL'
        CONSTRAINT trusted_issuers_assurance_check CHECK (assurance IN ('HIGH', 'SUBSTANTIAL')),
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT trusted_issuers_iss_key UNIQUE NULLS NOT DISTINCT (organisation_id, env, iss)
    );
    COMMENT ON COLUMN trusted_issuers.organisation_id IS 'who trusts it; null is the operator, for everybody';

    CREATE TABLE presentation_redirects (
      organisation_id bigint NOT NULL
        CONSTRAINT presentation_redirects_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT presentation_redirects_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      uri text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT presentation_redirects_pkey PRIMARY KEY (organisation_id, env, uri)
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    `DROP TABLE presentation_redirects; DROP TABLE trusted_issuers; DROP TABLE presentation_values;
     DROP TABLE presentations; DROP TABLE identity_subjects`,
  )
}
