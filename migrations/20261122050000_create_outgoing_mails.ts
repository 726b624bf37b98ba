import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE outgoing_mails (
      id uuid CONSTRAINT outgoing_mails_pkey PRIMARY KEY,
      sealed_mail text NOT NULL,
      attempts integer NOT NULL DEFAULT 0,
      next_attempt_at timestamptz NOT NULL DEFAULT now(),
      queued_until timestamptz NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX outgoing_mails_due_idx ON outgoing_mails (next_attempt_at);
    COMMENT ON INDEX outgoing_mails_due_idx IS 'the sweep: mails whose next attempt is due';
    COMMENT ON TABLE outgoing_mails IS 'mails with a link that are still to be sent; a row goes once its mail is sent or given up';
    COMMENT ON COLUMN outgoing_mails.sealed_mail IS 'recipient, subject and text as JSON, encrypted under SECRET_KEY: the link is a right';
    COMMENT ON COLUMN outgoing_mails.queued_until IS 'a message is under way until then; the sweep waits for it';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE outgoing_mails')
}
