import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE integrations (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT integrations_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT integrations_uuid_key UNIQUE,
      project_id bigint NOT NULL CONSTRAINT integrations_project_fkey REFERENCES projects ON DELETE CASCADE,
      kind text NOT NULL,
      name text NOT NULL DEFAULT '',
      sealed_config text NOT NULL,
      email_verified boolean NOT NULL DEFAULT true,
      disabled_at timestamptz,
      last_notify_at timestamptz,
      last_notify_duration_ms integer,
      last_error text NOT NULL DEFAULT '',
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX integrations_project_idx ON integrations (project_id, id);
    COMMENT ON INDEX integrations_project_idx IS 'the integrations of a project, in order of creation';
    COMMENT ON COLUMN integrations.sealed_config IS 'the kind''s options as JSON, encrypted under SECRET_KEY: they hold credentials';

    CREATE TABLE check_integrations (
      check_id bigint NOT NULL CONSTRAINT check_integrations_check_fkey REFERENCES checks ON DELETE CASCADE,
      integration_id bigint NOT NULL CONSTRAINT check_integrations_integration_fkey REFERENCES integrations ON DELETE CASCADE,
      CONSTRAINT check_integrations_pkey PRIMARY KEY (check_id, integration_id)
    );
    CREATE INDEX check_integrations_integration_idx ON check_integrations (integration_id);
    COMMENT ON INDEX check_integrations_integration_idx IS 'checks of an integration; its deletion';

    CREATE TABLE notifications (
      id uuid CONSTRAINT notifications_pkey PRIMARY KEY,
      integration_id bigint NOT NULL CONSTRAINT notifications_integration_fkey REFERENCES integrations ON DELETE CASCADE,
      check_id bigint CONSTRAINT notifications_check_fkey REFERENCES checks ON DELETE CASCADE,
      flip_id bigint CONSTRAINT notifications_flip_fkey REFERENCES flips ON DELETE CASCADE,
      check_status text NOT NULL CONSTRAINT notifications_check_status_check CHECK (check_status IN ('up', 'down')),
      state text NOT NULL DEFAULT 'pending'
        CONSTRAINT notifications_state_check CHECK (state IN ('pending', 'delivered', 'failed', 'suppressed')),
      error text NOT NULL DEFAULT '',
      attempts integer NOT NULL DEFAULT 0,
      next_attempt_at timestamptz,
      queued_until timestamptz,
      lease_until timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz
    );
    CREATE UNIQUE INDEX notifications_flip_integration_key ON notifications (flip_id, integration_id) WHERE flip_id IS NOT NULL;
    COMMENT ON INDEX notifications_flip_integration_key IS 'one flip gives at most one notification per channel';
    CREATE INDEX notifications_due_idx ON notifications (next_attempt_at) WHERE state = 'pending';
    COMMENT ON INDEX notifications_due_idx IS 'the sweep: notifications whose next attempt is due';
    CREATE INDEX notifications_integration_idx ON notifications (integration_id, created_at DESC);
    COMMENT ON INDEX notifications_integration_idx IS 'what was sent through an integration, newest first; monthly limits';
    CREATE INDEX notifications_check_idx ON notifications (check_id, created_at DESC);
    COMMENT ON INDEX notifications_check_idx IS 'the log of a check; its deletion';

    CREATE TABLE notification_attempts (
      notification_id uuid NOT NULL
        CONSTRAINT notification_attempts_notification_fkey REFERENCES notifications ON DELETE CASCADE,
      n integer NOT NULL,
      started_at timestamptz NOT NULL,
      duration_ms integer NOT NULL,
      outcome text NOT NULL CONSTRAINT notification_attempts_outcome_check
        CHECK (outcome IN ('delivered', 'temporary', 'permanent')),
      status_code integer,
      error text NOT NULL DEFAULT '',
      CONSTRAINT notification_attempts_pkey PRIMARY KEY (notification_id, n)
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP TABLE notification_attempts; DROP TABLE notifications; DROP TABLE check_integrations; DROP TABLE integrations',
  )
}
