import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE user_totp (
      user_id bigint CONSTRAINT user_totp_pkey PRIMARY KEY
        CONSTRAINT user_totp_user_fkey REFERENCES users ON DELETE CASCADE,
      sealed_secret text NOT NULL,
      is_confirmed boolean NOT NULL DEFAULT false,
      last_step bigint NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON COLUMN user_totp.is_confirmed IS 'false until a code of it was typed; nobody is requested for one before';
    COMMENT ON COLUMN user_totp.last_step IS 'half minutes since 1970 of the last code that was taken: each is taken once';

    CREATE TABLE user_passkeys (
      credential_id text CONSTRAINT user_passkeys_pkey PRIMARY KEY,
      user_id bigint NOT NULL CONSTRAINT user_passkeys_user_fkey REFERENCES users ON DELETE CASCADE,
      public_key bytea NOT NULL,
      counter bigint NOT NULL,
      transports text[] NOT NULL,
      name text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      used_at timestamptz
    );
    CREATE INDEX user_passkeys_user_idx ON user_passkeys (user_id);
    COMMENT ON INDEX user_passkeys_user_idx IS 'sign-in and the account page; deletion of the account';

    CREATE TABLE user_recovery_codes (
      user_id bigint NOT NULL CONSTRAINT user_recovery_codes_user_fkey REFERENCES users ON DELETE CASCADE,
      digest bytea NOT NULL,
      CONSTRAINT user_recovery_codes_pkey PRIMARY KEY (user_id, digest)
    );
    COMMENT ON TABLE user_recovery_codes IS 'what is left of the codes that were shown once; a used one is deleted';

    CREATE TABLE used_challenges (
      digest bytea CONSTRAINT used_challenges_pkey PRIMARY KEY,
      used_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON TABLE used_challenges IS 'challenges of passkeys that were answered: an answer counts once';

    ALTER TABLE users ADD COLUMN theme text NOT NULL DEFAULT ''
      CONSTRAINT users_theme_check CHECK (theme IN ('', 'light', 'dark'));
    COMMENT ON COLUMN users.theme IS 'empty: as the system of the person has it';

    ALTER TABLE one_time_links DROP CONSTRAINT one_time_links_purpose_check;
    ALTER TABLE one_time_links ADD CONSTRAINT one_time_links_purpose_check
      CHECK (purpose IN ('set-up', 'reset-password', 'invitation', 'change-address'));
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DELETE FROM one_time_links WHERE purpose = 'change-address';
    ALTER TABLE one_time_links DROP CONSTRAINT one_time_links_purpose_check;
    ALTER TABLE one_time_links ADD CONSTRAINT one_time_links_purpose_check
      CHECK (purpose IN ('set-up', 'reset-password', 'invitation'));
    ALTER TABLE users DROP COLUMN theme;
    DROP TABLE used_challenges; DROP TABLE user_recovery_codes; DROP TABLE user_passkeys; DROP TABLE user_totp`)
}
