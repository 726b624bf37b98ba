import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
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
    CREATE INDEX audit_log_organisation_idx ON audit_log (organisation_id, id DESC);
    COMMENT ON INDEX audit_log_organisation_idx IS 'who did what in an organisation, newest first';
    COMMENT ON COLUMN audit_log.actor IS 'the address of the person at that time: it stays when the account is gone';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE audit_log')
}
