import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE projects ADD COLUMN alerting_version bigint NOT NULL DEFAULT 0;
    COMMENT ON COLUMN projects.alerting_version IS
      'grows with each change of policies, windows and rules: by it alerters drop what they remember';

    CREATE TABLE alert_policies (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT alert_policies_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT alert_policies_uuid_key UNIQUE,
      project_id bigint NOT NULL CONSTRAINT alert_policies_project_fkey REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      match text NOT NULL DEFAULT '',
      position integer NOT NULL DEFAULT 0,
      plan jsonb NOT NULL,
      version bigint NOT NULL DEFAULT 1,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX alert_policies_project_idx ON alert_policies (project_id, position, id);
    COMMENT ON INDEX alert_policies_project_idx IS 'the policies of a project, in the order in which their tags are tried';
    COMMENT ON COLUMN alert_policies.plan IS 'when, steps, group, flapping and ack_timeout as the API shows them; integrations by uuid';

    CREATE TABLE check_rules (
      check_id bigint CONSTRAINT check_rules_pkey PRIMARY KEY
        CONSTRAINT check_rules_check_fkey REFERENCES checks ON DELETE CASCADE,
      policy_id bigint CONSTRAINT check_rules_policy_fkey REFERENCES alert_policies ON DELETE SET NULL,
      severity text NOT NULL DEFAULT 'critical'
        CONSTRAINT check_rules_severity_check CHECK (severity IN ('info', 'warning', 'critical')),
      parents jsonb NOT NULL DEFAULT '[]',
      parents_mode text NOT NULL DEFAULT 'any'
        CONSTRAINT check_rules_parents_mode_check CHECK (parents_mode IN ('any', 'all')),
      run jsonb,
      sources jsonb,
      ping_auth jsonb,
      previews text
    );
    CREATE INDEX check_rules_policy_idx ON check_rules (policy_id) WHERE policy_id IS NOT NULL;
    COMMENT ON INDEX check_rules_policy_idx IS 'checks that name a policy; its deletion';

    CREATE TABLE incidents (
      id uuid CONSTRAINT incidents_pkey PRIMARY KEY,
      n bigint GENERATED ALWAYS AS IDENTITY,
      project_id bigint NOT NULL CONSTRAINT incidents_project_fkey REFERENCES projects ON DELETE CASCADE,
      check_id bigint NOT NULL CONSTRAINT incidents_check_fkey REFERENCES checks ON DELETE CASCADE,
      state text NOT NULL
        CONSTRAINT incidents_state_check CHECK (state IN ('waiting', 'alerting', 'acknowledged', 'resolved')),
      policy_id bigint,
      is_direct boolean NOT NULL,
      severity text NOT NULL,
      down_at timestamptz NOT NULL,
      alert_at timestamptz,
      up_at timestamptz,
      resolved_at timestamptz,
      resolution text,
      flips integer NOT NULL DEFAULT 1,
      failures integer NOT NULL DEFAULT 1,
      flapping boolean NOT NULL DEFAULT false,
      suppression text,
      notified jsonb NOT NULL DEFAULT '[]',
      skipped_us bigint NOT NULL DEFAULT 0,
      first_step integer,
      plan_version bigint NOT NULL DEFAULT 0,
      evaluated_at timestamptz,
      next_at timestamptz,
      ack_at timestamptz,
      ack_by text,
      ack_via text,
      ack_until timestamptz,
      assignee text,
      report text NOT NULL DEFAULT '',
      previous uuid
    ) WITH (fillfactor = 80);
    CREATE UNIQUE INDEX incidents_open_key ON incidents (check_id) WHERE resolved_at IS NULL;
    COMMENT ON INDEX incidents_open_key IS 'a check has at most one open incident';
    CREATE INDEX incidents_check_idx ON incidents (check_id, n DESC);
    COMMENT ON INDEX incidents_check_idx IS 'the incidents of a check, newest first; its deletion';
    CREATE INDEX incidents_project_idx ON incidents (project_id, n DESC);
    COMMENT ON INDEX incidents_project_idx IS 'the incidents of a project, newest first';
    CREATE INDEX incidents_due_idx ON incidents (next_at) WHERE next_at IS NOT NULL;
    COMMENT ON INDEX incidents_due_idx IS 'the alerter: incidents whose next evaluation is due';
    CREATE INDEX incidents_resolved_idx ON incidents (resolved_at) WHERE resolved_at IS NOT NULL;
    COMMENT ON INDEX incidents_resolved_idx IS 'retention';
    COMMENT ON COLUMN incidents.policy_id IS 'the policy of the last evaluation; null when notified directly or by the implicit one';
    COMMENT ON COLUMN incidents.notified IS 'for each step of the plan how many of its entries have been spoken';
    COMMENT ON COLUMN incidents.plan_version IS 'version of the policy at the last evaluation: a change counts from now';
    COMMENT ON COLUMN incidents.skipped_us IS 'waits that were skipped because nobody was reached';

    CREATE TABLE incident_events (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT incident_events_pkey PRIMARY KEY,
      incident_id uuid NOT NULL CONSTRAINT incident_events_incident_fkey REFERENCES incidents ON DELETE CASCADE,
      at timestamptz NOT NULL DEFAULT now(),
      kind text NOT NULL
        CONSTRAINT incident_events_kind_check CHECK (kind IN ('ack', 'unack', 'assign', 'note', 'report')),
      actor_name text NOT NULL DEFAULT '',
      via text NOT NULL DEFAULT '',
      text text NOT NULL DEFAULT ''
    );
    CREATE INDEX incident_events_incident_idx ON incident_events (incident_id, id);
    COMMENT ON INDEX incident_events_incident_idx IS 'what people did about an incident, oldest first';

    CREATE TABLE alert_decisions (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT alert_decisions_pkey PRIMARY KEY,
      check_id bigint NOT NULL CONSTRAINT alert_decisions_check_fkey REFERENCES checks ON DELETE CASCADE,
      flip_id bigint,
      incident_id uuid,
      at timestamptz NOT NULL,
      outcome text NOT NULL
        CONSTRAINT alert_decisions_outcome_check CHECK (outcome IN ('notified', 'suppressed', 'skipped', 'none', 'deadline_extended')),
      reason text NOT NULL,
      detail jsonb NOT NULL DEFAULT '{}',
      until timestamptz,
      channels jsonb NOT NULL DEFAULT '[]'
    );
    CREATE INDEX alert_decisions_check_idx ON alert_decisions (check_id, id DESC);
    COMMENT ON INDEX alert_decisions_check_idx IS 'the decisions about a check, newest first; its deletion';
    CREATE INDEX alert_decisions_at_idx ON alert_decisions (at);
    COMMENT ON INDEX alert_decisions_at_idx IS 'retention: decisions older than flips are kept';

    CREATE TABLE notification_bundles (
      id uuid CONSTRAINT notification_bundles_pkey PRIMARY KEY,
      project_id bigint NOT NULL CONSTRAINT notification_bundles_project_fkey REFERENCES projects ON DELETE CASCADE,
      policy_id bigint NOT NULL,
      direction text NOT NULL CONSTRAINT notification_bundles_direction_check CHECK (direction IN ('up', 'down')),
      opened_at timestamptz NOT NULL,
      sent_at timestamptz,
      size integer NOT NULL DEFAULT 0,
      members jsonb NOT NULL DEFAULT '[]'
    );
    CREATE UNIQUE INDEX notification_bundles_open_key ON notification_bundles (policy_id, direction) WHERE sent_at IS NULL;
    COMMENT ON INDEX notification_bundles_open_key IS 'a policy gathers at most one digest in each direction';
    CREATE INDEX notification_bundles_project_idx ON notification_bundles (project_id, opened_at DESC);
    COMMENT ON INDEX notification_bundles_project_idx IS 'the digests of a project; its deletion';

    ALTER TABLE notifications
      ADD COLUMN incident_id uuid CONSTRAINT notifications_incident_fkey REFERENCES incidents ON DELETE SET NULL,
      ADD COLUMN bundle_id uuid CONSTRAINT notifications_bundle_fkey REFERENCES notification_bundles ON DELETE CASCADE,
      ADD COLUMN what text NOT NULL DEFAULT 'flip' CONSTRAINT notifications_what_check
        CHECK (what IN ('flip', 'test', 'first', 'repeat', 'recovery', 'flapping', 'digest', 'unknown')),
      ADD COLUMN entry integer NOT NULL DEFAULT 0,
      ADD COLUMN detail jsonb;
    COMMENT ON COLUMN notifications.entry IS 'offset in the plan, seconds; for direct ones the number of the flip';
    COMMENT ON COLUMN notifications.detail IS 'what the message says of the incident: step, repeat, reason of a delay';
    UPDATE notifications SET what = 'test' WHERE flip_id IS NULL;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE notifications DROP COLUMN incident_id, DROP COLUMN bundle_id, DROP COLUMN what, DROP COLUMN entry,
      DROP COLUMN detail;
    DROP TABLE notification_bundles; DROP TABLE alert_decisions; DROP TABLE incident_events; DROP TABLE incidents; DROP TABLE check_rules;
    DROP TABLE alert_policies;
    ALTER TABLE projects DROP COLUMN alerting_version;
  `)
}
