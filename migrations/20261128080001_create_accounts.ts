import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE organisations (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT organisations_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT organisations_uuid_key UNIQUE,
      name text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE TABLE users (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT users_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT users_uuid_key UNIQUE,
      email text NOT NULL CONSTRAINT users_email_key UNIQUE,
      name text NOT NULL DEFAULT '',
      password_hash text,
      created_at timestamptz NOT NULL DEFAULT now(),
      email_verified boolean NOT NULL DEFAULT true,
      theme text NOT NULL DEFAULT '',
      CONSTRAINT users_email_check CHECK (email = lower(email)),
      CONSTRAINT users_theme_check CHECK (theme IN ('', 'light', 'dark'))
    );
    COMMENT ON COLUMN users.password_hash IS 'argon2id in PHC form; NULL for users who only sign in through OpenID Connect';
    COMMENT ON COLUMN users.email_verified IS 'true after a mailed link was used, or if the operator or an issuer vouched for the address';
    COMMENT ON COLUMN users.theme IS 'empty: follows the system setting of the user';

    CREATE TABLE user_identities (
      issuer text NOT NULL,
      subject text NOT NULL,
      user_id bigint NOT NULL CONSTRAINT user_identities_user_fkey REFERENCES users ON DELETE CASCADE,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT user_identities_pkey PRIMARY KEY (issuer, subject)
    );
    CREATE INDEX user_identities_user_idx ON user_identities (user_id);
    COMMENT ON INDEX user_identities_user_idx IS 'lists the identities connected to a user; supports account deletion';

    CREATE TABLE memberships (
      organisation_id bigint NOT NULL CONSTRAINT memberships_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      user_id bigint NOT NULL CONSTRAINT memberships_user_fkey REFERENCES users ON DELETE CASCADE,
      role text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT memberships_role_check CHECK (role IN ('owner', 'manager', 'member', 'responder', 'read-only')),
      CONSTRAINT memberships_pkey PRIMARY KEY (organisation_id, user_id)
    );
    CREATE INDEX memberships_user_idx ON memberships (user_id);
    COMMENT ON INDEX memberships_user_idx IS 'lists the organisations of the signed-in user, on every page';

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
    COMMENT ON COLUMN sessions.renew IS 'true after a change of permissions; the next request gets a new session id';
    CREATE INDEX sessions_user_idx ON sessions (user_id);
    COMMENT ON INDEX sessions_user_idx IS 'lists the sessions of a user on the account page; deletes all at sign-out everywhere';

    CREATE TABLE one_time_links (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT one_time_links_pkey PRIMARY KEY,
      purpose text NOT NULL,
      digest bytea NOT NULL CONSTRAINT one_time_links_digest_key UNIQUE,
      user_id bigint CONSTRAINT one_time_links_user_fkey REFERENCES users ON DELETE CASCADE,
      organisation_id bigint CONSTRAINT one_time_links_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      email text NOT NULL DEFAULT '',
      role text NOT NULL DEFAULT '',
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      mailed_digest bytea CONSTRAINT one_time_links_mailed_digest_key UNIQUE,
      CONSTRAINT one_time_links_purpose_check CHECK (purpose IN ('set-up', 'reset-password', 'invitation', 'change-address', 'restore-address'))
    );
    COMMENT ON TABLE one_time_links IS 'using a link deletes its row, so that it works only once';
    COMMENT ON COLUMN one_time_links.mailed_digest IS 'digest of the token that only the mail contains; its use proves access to the mailbox';
    CREATE INDEX one_time_links_organisation_idx ON one_time_links (organisation_id);
    COMMENT ON INDEX one_time_links_organisation_idx IS 'lists the open invitations of an organisation';
    CREATE INDEX one_time_links_user_idx ON one_time_links (user_id);
    COMMENT ON INDEX one_time_links_user_idx IS 'finds the links of a user, which expire when the password changes';

    CREATE TABLE user_totp (
      user_id bigint CONSTRAINT user_totp_pkey PRIMARY KEY CONSTRAINT user_totp_user_fkey REFERENCES users ON DELETE CASCADE,
      sealed_secret text NOT NULL,
      is_confirmed boolean NOT NULL DEFAULT false,
      last_step bigint NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now(),
      mail_digest bytea
    );
    COMMENT ON COLUMN user_totp.is_confirmed IS 'false until a code was verified; the second factor is not required before';
    COMMENT ON COLUMN user_totp.last_step IS '30-second step since 1970 of the last accepted code; prevents reuse of a code';
    COMMENT ON COLUMN user_totp.mail_digest IS 'digest of the link in the mail about the factor; NULL once confirmed; a password reset deletes unconfirmed factors';
    CREATE UNIQUE INDEX user_totp_mail_digest_idx ON user_totp (mail_digest);
    COMMENT ON INDEX user_totp_mail_digest_idx IS 'finds the factor of a mailed link';

    CREATE TABLE user_passkeys (
      credential_id text CONSTRAINT user_passkeys_pkey PRIMARY KEY,
      user_id bigint NOT NULL CONSTRAINT user_passkeys_user_fkey REFERENCES users ON DELETE CASCADE,
      public_key bytea NOT NULL,
      counter bigint NOT NULL,
      transports text[] NOT NULL,
      name text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      used_at timestamptz,
      mail_digest bytea
    );
    COMMENT ON COLUMN user_passkeys.mail_digest IS 'digest of the link in the mail about the factor; NULL once confirmed; a password reset deletes unconfirmed factors';
    CREATE UNIQUE INDEX user_passkeys_mail_digest_idx ON user_passkeys (mail_digest);
    COMMENT ON INDEX user_passkeys_mail_digest_idx IS 'finds the factor of a mailed link';
    CREATE INDEX user_passkeys_user_idx ON user_passkeys (user_id);
    COMMENT ON INDEX user_passkeys_user_idx IS 'lists the passkeys of a user for sign-in and the account page; supports account deletion';

    CREATE TABLE user_recovery_codes (
      user_id bigint NOT NULL CONSTRAINT user_recovery_codes_user_fkey REFERENCES users ON DELETE CASCADE,
      digest bytea NOT NULL,
      CONSTRAINT user_recovery_codes_pkey PRIMARY KEY (user_id, digest)
    );
    COMMENT ON TABLE user_recovery_codes IS 'unused recovery codes, which were shown once; a used code is deleted';

    CREATE TABLE used_challenges (
      digest bytea CONSTRAINT used_challenges_pkey PRIMARY KEY,
      used_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON TABLE used_challenges IS 'answered passkey challenges; prevents replay';

    CREATE TABLE audit_log (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT audit_log_pkey PRIMARY KEY,
      organisation_id bigint CONSTRAINT audit_log_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      user_id bigint CONSTRAINT audit_log_user_fkey REFERENCES users ON DELETE SET NULL,
      actor text NOT NULL,
      action text NOT NULL,
      target text NOT NULL DEFAULT '',
      address text NOT NULL DEFAULT '',
      at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON COLUMN audit_log.actor IS 'address of the actor at that time; kept after the account is deleted';
    CREATE INDEX audit_log_organisation_idx ON audit_log (organisation_id, id DESC);
    COMMENT ON INDEX audit_log_organisation_idx IS 'lists the audit log of an organisation, newest first';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP TABLE audit_log, used_challenges, user_recovery_codes, user_passkeys, user_totp, one_time_links, sessions, memberships, user_identities, users, organisations',
  )
}
