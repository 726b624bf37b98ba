import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE evidence_jobs (
      id uuid CONSTRAINT evidence_jobs_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL
        CONSTRAINT evidence_jobs_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT evidence_jobs_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      kind text NOT NULL,
      idempotency_key text,
      question bytea,
      sealed_request text,
      state text NOT NULL DEFAULT 'QUEUED'
        CONSTRAINT evidence_jobs_state_check CHECK (state IN ('QUEUED', 'DONE', 'REFUSED')),
      status smallint,
      body text,
      requested_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz,
      CONSTRAINT evidence_jobs_body_check CHECK ((state = 'QUEUED') = (body IS NULL)),
      CONSTRAINT evidence_jobs_request_check CHECK ((state = 'QUEUED') = (sealed_request IS NOT NULL))
    );
    CREATE UNIQUE INDEX evidence_jobs_question_key ON evidence_jobs (organisation_id, env, kind, question)
      WHERE question IS NOT NULL;
    COMMENT ON INDEX evidence_jobs_question_key IS 'the same question of a day has one job and one answer';
    CREATE INDEX evidence_jobs_list_idx ON evidence_jobs (organisation_id, env, kind, requested_at DESC, id DESC);
    COMMENT ON INDEX evidence_jobs_list_idx IS 'what an organisation requested for, newest first';
    COMMENT ON COLUMN evidence_jobs.sealed_request IS 'encrypted while the worker needs it, then gone';
    COMMENT ON COLUMN evidence_jobs.body IS 'the answer as it was first given; of a REFUSED job why';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE evidence_jobs')
}
