import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE colending_events (
      id uuid CONSTRAINT colending_events_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL
        CONSTRAINT colending_events_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT colending_events_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      integration_id uuid NOT NULL
        CONSTRAINT colending_events_integration_fkey REFERENCES lms_integrations ON DELETE CASCADE,
      source_key bytea NOT NULL,
      mapping text NOT NULL,
      source_event text,
      reason text,
      loan_ref bytea,
      body text,
      answer text NOT NULL,
      received_at timestamptz NOT NULL,
      CONSTRAINT colending_events_source_key UNIQUE (integration_id, source_key),
      CONSTRAINT colending_events_body_check CHECK ((body IS NULL) = (reason IS NOT NULL))
    );
    CREATE INDEX colending_events_loan_idx ON colending_events (organisation_id, env, loan_ref, seq DESC)
      WHERE body IS NOT NULL;
    COMMENT ON INDEX colending_events_loan_idx IS 'the evidence of a loan, newest first';
    CREATE INDEX colending_events_list_idx ON colending_events (organisation_id, env, seq DESC) WHERE body IS NOT NULL;
    COMMENT ON INDEX colending_events_list_idx IS 'the evidence of an organisation, newest first';
    COMMENT ON COLUMN colending_events.source_key IS
      'SHA-256 of the partner''s event id, else of the body: the same event twice has one effect';
    COMMENT ON COLUMN colending_events.loan_ref IS 'keyed hash; the partner''s reference is not stored';
    COMMENT ON COLUMN colending_events.body IS 'the canonical contract with its anchor; NULL when it could not be mapped';
    COMMENT ON COLUMN colending_events.answer IS 'what the partner was answered, given again to a repetition';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE colending_events')
}
