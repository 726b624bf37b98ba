import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE one_time_links (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT one_time_links_pkey PRIMARY KEY,
      purpose text NOT NULL
        CONSTRAINT one_time_links_purpose_check CHECK (purpose IN ('set-up', 'reset-password', 'invitation')),
      digest bytea NOT NULL CONSTRAINT one_time_links_digest_key UNIQUE,
      user_id bigint CONSTRAINT one_time_links_user_fkey REFERENCES users ON DELETE CASCADE,
      organisation_id bigint CONSTRAINT one_time_links_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      email text NOT NULL DEFAULT '',
      role text NOT NULL DEFAULT '',
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL
    );
    CREATE INDEX one_time_links_organisation_idx ON one_time_links (organisation_id);
    COMMENT ON INDEX one_time_links_organisation_idx IS 'the open invitations of an organisation';
    CREATE INDEX one_time_links_user_idx ON one_time_links (user_id);
    COMMENT ON INDEX one_time_links_user_idx IS 'links that end when a password changes';
    COMMENT ON TABLE one_time_links IS 'a used link is a deleted row, so that it cannot be used twice';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE one_time_links')
}
