import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE waiting_tellings (
      id uuid CONSTRAINT waiting_tellings_pkey PRIMARY KEY,
      n bigint GENERATED ALWAYS AS IDENTITY,
      channel_id bigint NOT NULL CONSTRAINT waiting_tellings_channel_fkey REFERENCES channels ON DELETE CASCADE,
      incident_id uuid NOT NULL CONSTRAINT waiting_tellings_incident_fkey REFERENCES incidents ON DELETE CASCADE,
      what text NOT NULL,
      entry integer NOT NULL,
      detail jsonb,
      is_made boolean NOT NULL DEFAULT false
    );
    CREATE INDEX waiting_tellings_channel_idx ON waiting_tellings (channel_id, n);
    COMMENT ON INDEX waiting_tellings_channel_idx IS 'the next messages of an integration; its deletion';
    CREATE UNIQUE INDEX waiting_tellings_incident_key ON waiting_tellings (incident_id, channel_id, what, entry);
    COMMENT ON INDEX waiting_tellings_incident_key IS 'no entry of a plan waits twice; what an incident has still to tell';
    COMMENT ON TABLE waiting_tellings IS
      'single messages beside a digest, of which an integration gets some at a time; a row goes when its message has ended';
    COMMENT ON COLUMN waiting_tellings.id IS 'of the notification that it becomes';
    COMMENT ON COLUMN waiting_tellings.is_made IS 'there is a notification';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE waiting_tellings')
}
