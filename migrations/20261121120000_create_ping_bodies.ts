import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  // A row lives from the arrival of a mail until its ping is recorded. Compressing it for that long is wasted work.
  await knex.raw(`
    CREATE TABLE ping_bodies (
      id uuid NOT NULL CONSTRAINT ping_bodies_pkey PRIMARY KEY,
      body bytea NOT NULL,
      text bytea,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    ALTER TABLE ping_bodies ALTER COLUMN body SET STORAGE EXTERNAL;
    COMMENT ON TABLE ping_bodies IS
      'mails too large for a queue message, until the evaluator moves them into pings; one row per recipient';
    COMMENT ON COLUMN ping_bodies.text IS 'what keywords are searched in, as JSON; null when the queue message carries it';
    CREATE INDEX ping_bodies_created_idx ON ping_bodies (created_at);
    COMMENT ON INDEX ping_bodies_created_idx IS 'retention: mails whose ping never came';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE ping_bodies')
}
