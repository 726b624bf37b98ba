import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE users ADD COLUMN email_verified boolean NOT NULL DEFAULT true;
    COMMENT ON COLUMN users.email_verified IS 'a mailed link was used, or the operator or an issuer vouched for the address';

    ALTER TABLE one_time_links ADD COLUMN mailed_digest bytea CONSTRAINT one_time_links_mailed_digest_key UNIQUE;
    COMMENT ON COLUMN one_time_links.mailed_digest IS 'of the token that only the mail holds: who uses it has read the mail';

    CREATE TABLE verified_recipients (
      project_id bigint NOT NULL
        CONSTRAINT verified_recipients_project_fkey REFERENCES projects ON DELETE CASCADE,
      digest bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT verified_recipients_pkey PRIMARY KEY (project_id, digest)
    );
    COMMENT ON TABLE verified_recipients IS 'addresses whose holders agreed to get the alerts of a project';
    COMMENT ON COLUMN verified_recipients.digest IS 'keyed digest of the address in lower case';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE verified_recipients;
    ALTER TABLE one_time_links DROP COLUMN mailed_digest;
    ALTER TABLE users DROP COLUMN email_verified;
  `)
}
