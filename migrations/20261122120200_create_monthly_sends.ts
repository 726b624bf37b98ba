import type { Knex } from 'knex'

/** No foreign key to the notification: what was sent stays counted when its integration is deleted. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE monthly_sends (
      project_id bigint NOT NULL CONSTRAINT monthly_sends_project_fkey REFERENCES projects ON DELETE CASCADE,
      meter text NOT NULL CONSTRAINT monthly_sends_meter_check CHECK (meter IN ('sms', 'call')),
      month timestamptz NOT NULL,
      notification_id uuid NOT NULL,
      CONSTRAINT monthly_sends_pkey PRIMARY KEY (project_id, meter, month, notification_id)
    );
    COMMENT ON TABLE monthly_sends IS
      'places of a project''s month that messages have taken; those of the month before go with the first of the next';

    INSERT INTO monthly_sends (project_id, meter, month, notification_id)
    SELECT c.project_id, CASE c.kind WHEN 'call' THEN 'call' ELSE 'sms' END,
           date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', n.id
    FROM integrations c JOIN notifications n ON n.integration_id = c.id
    WHERE c.kind IN ('sms', 'whatsapp', 'call') AND n.state = 'delivered'
      AND n.created_at >= date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE monthly_sends')
}
