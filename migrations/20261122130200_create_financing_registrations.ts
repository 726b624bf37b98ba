import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE financing_fingerprints DROP CONSTRAINT financing_fingerprints_state_check;
    ALTER TABLE financing_fingerprints ADD CONSTRAINT financing_fingerprints_state_check
      CHECK (state IN ('REGISTERED', 'FINANCED', 'RELEASED', 'CANCELLED', 'LAPSED', 'TRANSFERRED'));
    ALTER TABLE financing_fingerprints ADD COLUMN expires_at timestamptz;
    COMMENT ON COLUMN financing_fingerprints.expires_at IS
      'of a receivable that a pack presented; a registration has its own';
    UPDATE financing_fingerprints SET expires_at = now() + interval '7 days'
      WHERE kind <> 'PO1' AND state = 'REGISTERED';
    CREATE INDEX financing_fingerprints_expires_idx ON financing_fingerprints (expires_at)
      WHERE state = 'REGISTERED' AND expires_at IS NOT NULL;
    COMMENT ON INDEX financing_fingerprints_expires_idx IS 'what the sweeper lets lapse';

    CREATE TABLE financing_registrations (
      id uuid CONSTRAINT financing_registrations_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL
        CONSTRAINT financing_registrations_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT financing_registrations_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      state text NOT NULL CONSTRAINT financing_registrations_state_check
        CHECK (state IN ('REGISTERED', 'FINANCED', 'RELEASED', 'CANCELLED', 'LAPSED', 'TRANSFERRED')),
      mode text NOT NULL CONSTRAINT financing_registrations_mode_check CHECK (mode IN ('FIELDS', 'BLIND')),
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
      record text NOT NULL
    );
    CREATE INDEX financing_registrations_list_idx ON financing_registrations
      (organisation_id, env, created_at DESC, id DESC);
    COMMENT ON INDEX financing_registrations_list_idx IS 'the registrations of an organisation, newest first';
    CREATE INDEX financing_registrations_expires_idx ON financing_registrations (expires_at)
      WHERE state IN ('REGISTERED', 'FINANCED');
    COMMENT ON INDEX financing_registrations_expires_idx IS 'what the sweeper lets lapse, or notifies of before';
    COMMENT ON COLUMN financing_registrations.sealed_receivable IS
      'the fields with the salts of their commitments; shown to their owner alone';
    COMMENT ON COLUMN financing_registrations.record IS 'the newest anchored object of its states';

    CREATE TABLE financing_sightings (
      registration_id uuid NOT NULL
        CONSTRAINT financing_sightings_registration_fkey REFERENCES financing_registrations ON DELETE CASCADE,
      on_date date NOT NULL,
      count integer NOT NULL,
      CONSTRAINT financing_sightings_pkey PRIMARY KEY (registration_id, on_date)
    );
    COMMENT ON TABLE financing_sightings IS 'how often others checked it on an Indian day, not who';

    CREATE TABLE financing_transfers (
      registration_id uuid CONSTRAINT financing_transfers_pkey PRIMARY KEY
        CONSTRAINT financing_transfers_registration_fkey REFERENCES financing_registrations ON DELETE CASCADE,
      token_digest bytea NOT NULL CONSTRAINT financing_transfers_token_key UNIQUE,
      expires_at timestamptz NOT NULL
    );
    COMMENT ON TABLE financing_transfers IS 'the open offer of a registration; a new one replaces it';

    CREATE TABLE financing_disputes (
      id uuid CONSTRAINT financing_disputes_pkey PRIMARY KEY,
      registration_id uuid NOT NULL
        CONSTRAINT financing_disputes_registration_fkey REFERENCES financing_registrations ON DELETE CASCADE,
      holder_id bigint NOT NULL CONSTRAINT financing_disputes_holder_fkey REFERENCES organisations ON DELETE CASCADE,
      organisation_id bigint NOT NULL
        CONSTRAINT financing_disputes_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      sealed_reason text NOT NULL,
      state text NOT NULL CONSTRAINT financing_disputes_state_check
        CHECK (state IN ('OPEN', 'CONFIRMED', 'RELEASED', 'UNANSWERED')),
      record text NOT NULL,
      opened_at timestamptz NOT NULL DEFAULT now(),
      answer_by timestamptz NOT NULL,
      answered_at timestamptz
    );
    CREATE UNIQUE INDEX financing_disputes_open_key ON financing_disputes (registration_id, organisation_id)
      WHERE state = 'OPEN';
    COMMENT ON INDEX financing_disputes_open_key IS 'one open dispute of a registration per organisation';
    CREATE INDEX financing_disputes_due_idx ON financing_disputes (answer_by) WHERE state = 'OPEN';
    COMMENT ON INDEX financing_disputes_due_idx IS 'what was not answered in time';

    CREATE TABLE daily_counters (
      organisation_id bigint NOT NULL
        CONSTRAINT daily_counters_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      name text NOT NULL,
      on_date date NOT NULL,
      count integer NOT NULL,
      CONSTRAINT daily_counters_pkey PRIMARY KEY (organisation_id, env, name, on_date)
    );
    CREATE INDEX daily_counters_date_idx ON daily_counters (on_date);
    COMMENT ON INDEX daily_counters_date_idx IS 'retention: days that are over';
    COMMENT ON TABLE daily_counters IS 'what an organisation has used of a limit per Indian day';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE daily_counters;
    DROP TABLE financing_disputes;
    DROP TABLE financing_transfers;
    DROP TABLE financing_sightings;
    DROP TABLE financing_registrations;
    DROP INDEX financing_fingerprints_expires_idx;
    ALTER TABLE financing_fingerprints DROP COLUMN expires_at;
    DELETE FROM financing_fingerprints WHERE state = 'TRANSFERRED';
    ALTER TABLE financing_fingerprints DROP CONSTRAINT financing_fingerprints_state_check;
    ALTER TABLE financing_fingerprints ADD CONSTRAINT financing_fingerprints_state_check
      CHECK (state IN ('REGISTERED', 'FINANCED', 'RELEASED', 'CANCELLED', 'LAPSED'));
  `)
}
