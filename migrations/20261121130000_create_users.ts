import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE users (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT users_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT users_uuid_key UNIQUE,
      email text NOT NULL CONSTRAINT users_email_key UNIQUE CONSTRAINT users_email_check CHECK (email = lower(email)),
      name text NOT NULL DEFAULT '',
      password_hash text,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON COLUMN users.password_hash IS 'argon2id in PHC form; null for people who only sign in through OpenID Connect';

    CREATE TABLE user_identities (
      issuer text NOT NULL,
      subject text NOT NULL,
      user_id bigint NOT NULL CONSTRAINT user_identities_user_fkey REFERENCES users ON DELETE CASCADE,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT user_identities_pkey PRIMARY KEY (issuer, subject)
    );
    CREATE INDEX user_identities_user_idx ON user_identities (user_id);
    COMMENT ON INDEX user_identities_user_idx IS 'what is connected to an account; its deletion';

    CREATE TABLE memberships (
      organisation_id bigint NOT NULL
        CONSTRAINT memberships_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      user_id bigint NOT NULL CONSTRAINT memberships_user_fkey REFERENCES users ON DELETE CASCADE,
      role text NOT NULL CONSTRAINT memberships_role_check CHECK (role IN ('owner', 'manager', 'member', 'read-only')),
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT memberships_pkey PRIMARY KEY (organisation_id, user_id)
    );
    CREATE INDEX memberships_user_idx ON memberships (user_id);
    COMMENT ON INDEX memberships_user_idx IS 'the organisations of a signed-in person, on every page';

    CREATE TABLE sessions (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT sessions_pkey PRIMARY KEY,
      digest bytea NOT NULL CONSTRAINT sessions_digest_key UNIQUE,
      user_id bigint NOT NULL CONSTRAINT sessions_user_fkey REFERENCES users ON DELETE CASCADE,
      address text NOT NULL,
      agent text NOT NULL,
      renew boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL DEFAULT now(),
      seen_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX sessions_user_idx ON sessions (user_id);
    COMMENT ON INDEX sessions_user_idx IS 'sign-out everywhere; the list of sessions on the account page';
    COMMENT ON COLUMN sessions.renew IS 'rights changed: the next request gets another session id';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE sessions; DROP TABLE memberships; DROP TABLE user_identities; DROP TABLE users')
}
