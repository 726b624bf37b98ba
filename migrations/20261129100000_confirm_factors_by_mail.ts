import type { Knex } from 'knex'

/** Factors that exist already count as confirmed: this release must not remove them when a password is reset. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE user_totp ADD COLUMN mail_digest bytea;
    ALTER TABLE user_passkeys ADD COLUMN mail_digest bytea;
    CREATE UNIQUE INDEX user_totp_mail_digest_idx ON user_totp (mail_digest);
    CREATE UNIQUE INDEX user_passkeys_mail_digest_idx ON user_passkeys (mail_digest);
    COMMENT ON COLUMN user_totp.mail_digest IS
      'digest of the link in the mail about the factor; null when confirmed. A password reset removes unconfirmed factors';
    COMMENT ON COLUMN user_passkeys.mail_digest IS
      'digest of the link in the mail about the factor; null when confirmed. A password reset removes unconfirmed factors';
    COMMENT ON INDEX user_totp_mail_digest_idx IS 'the factor that a link in a mail is about';
    COMMENT ON INDEX user_passkeys_mail_digest_idx IS 'the factor that a link in a mail is about';

    ALTER TABLE one_time_links DROP CONSTRAINT one_time_links_purpose_check;
    ALTER TABLE one_time_links ADD CONSTRAINT one_time_links_purpose_check
      CHECK (purpose IN ('set-up', 'reset-password', 'invitation', 'change-address', 'restore-address'));
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DELETE FROM one_time_links WHERE purpose = 'restore-address';
    ALTER TABLE one_time_links DROP CONSTRAINT one_time_links_purpose_check;
    ALTER TABLE one_time_links ADD CONSTRAINT one_time_links_purpose_check
      CHECK (purpose IN ('set-up', 'reset-password', 'invitation', 'change-address'));
    ALTER TABLE user_passkeys DROP COLUMN mail_digest;
    ALTER TABLE user_totp DROP COLUMN mail_digest
  `)
}
