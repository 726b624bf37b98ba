import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE pending_notifications (
      id uuid CONSTRAINT pending_notifications_pkey PRIMARY KEY,
      n bigint GENERATED ALWAYS AS IDENTITY,
      integration_id bigint NOT NULL CONSTRAINT pending_notifications_integration_fkey REFERENCES integrations ON DELETE CASCADE,
      incident_id uuid NOT NULL CONSTRAINT pending_notifications_incident_fkey REFERENCES incidents ON DELETE CASCADE,
      what text NOT NULL,
      entry integer NOT NULL,
      detail jsonb,
      is_made boolean NOT NULL DEFAULT false
    );
    CREATE INDEX pending_notifications_integration_idx ON pending_notifications (integration_id, n);
    COMMENT ON INDEX pending_notifications_integration_idx IS 'the next messages of an integration; its deletion';
    CREATE UNIQUE INDEX pending_notifications_incident_key ON pending_notifications (incident_id, integration_id, what, entry);
    COMMENT ON INDEX pending_notifications_incident_key IS 'no entry of a plan waits twice; what an incident has still to tell';
    COMMENT ON TABLE pending_notifications IS
      'single messages beside a digest, of which an integration gets some at a time; a row goes when its message has ended';
    COMMENT ON COLUMN pending_notifications.id IS 'of the notification that it becomes';
    COMMENT ON COLUMN pending_notifications.is_made IS 'there is a notification';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE pending_notifications')
}
