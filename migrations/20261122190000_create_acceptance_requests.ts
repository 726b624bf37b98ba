import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE acceptance_requests (
      id uuid CONSTRAINT acceptance_requests_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL
        CONSTRAINT acceptance_requests_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT acceptance_requests_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
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
      acceptance_id uuid
    );
    CREATE INDEX acceptance_requests_ref_idx
      ON acceptance_requests (organisation_id, env, receivable_ref, created_at);
    COMMENT ON INDEX acceptance_requests_ref_idx IS 'which buyers were requested of a receivable, in order';
    CREATE INDEX acceptance_requests_ended_idx ON acceptance_requests (expires_at) WHERE sealed_details IS NOT NULL;
    COMMENT ON INDEX acceptance_requests_ended_idx IS 'the sweep: mailboxes of requests that nobody answered in time';
    COMMENT ON COLUMN acceptance_requests.digest IS 'of the token in the link, which is not stored';
    COMMENT ON COLUMN acceptance_requests.sealed_details IS
      'mailbox and receivable as JSON, encrypted under SECRET_KEY; NULL once the request is answered or over';
    COMMENT ON COLUMN acceptance_requests.wrong_codes IS 'of the whole life of the link: at five it is locked';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE acceptance_requests')
}
