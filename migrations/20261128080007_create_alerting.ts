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
    COMMENT ON COLUMN integrations.sealed_config IS 'options of the kind as JSON; encrypted under SECRET_KEY because they contain credentials';
    CREATE INDEX integrations_project_idx ON integrations (project_id, id);
    COMMENT ON INDEX integrations_project_idx IS 'lists the integrations of a project by creation order';

    CREATE TABLE check_integrations (
      check_id bigint NOT NULL CONSTRAINT check_integrations_check_fkey REFERENCES checks ON DELETE CASCADE,
      integration_id bigint NOT NULL CONSTRAINT check_integrations_integration_fkey REFERENCES integrations ON DELETE CASCADE,
      CONSTRAINT check_integrations_pkey PRIMARY KEY (check_id, integration_id)
    );
    CREATE INDEX check_integrations_integration_idx ON check_integrations (integration_id);
    COMMENT ON INDEX check_integrations_integration_idx IS 'finds the checks of an integration; supports its deletion';

    CREATE TABLE alert_policies (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT alert_policies_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT alert_policies_uuid_key UNIQUE,
      project_id bigint NOT NULL CONSTRAINT alert_policies_project_fkey REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      match text NOT NULL DEFAULT '',
      "position" integer NOT NULL DEFAULT 0,
      plan jsonb NOT NULL,
      version bigint NOT NULL DEFAULT 1,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON COLUMN alert_policies.plan IS 'API fields when, steps, group, flapping, ack_timeout, fallback and notify_ack; integrations and schedules by UUID';
    CREATE INDEX alert_policies_project_idx ON alert_policies (project_id, "position", id);
    COMMENT ON INDEX alert_policies_project_idx IS 'lists the policies of a project in the order in which their tags are matched';
    ALTER TABLE check_rules ADD CONSTRAINT check_rules_policy_fkey FOREIGN KEY (policy_id) REFERENCES alert_policies(id) ON DELETE SET NULL;

    CREATE TABLE incidents (
      id uuid CONSTRAINT incidents_pkey PRIMARY KEY,
      n bigint GENERATED ALWAYS AS IDENTITY,
      project_id bigint NOT NULL CONSTRAINT incidents_project_fkey REFERENCES projects ON DELETE CASCADE,
      check_id bigint NOT NULL CONSTRAINT incidents_check_fkey REFERENCES checks ON DELETE CASCADE,
      state text NOT NULL,
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
      skips jsonb NOT NULL DEFAULT '[]',
      is_escalating boolean NOT NULL DEFAULT false,
      first_step integer,
      sequences jsonb,
      exhausted_at timestamptz,
      plan_version bigint NOT NULL DEFAULT 0,
      evaluated_at timestamptz,
      next_at timestamptz,
      ack_at timestamptz,
      ack_by text,
      ack_via text,
      ack_until timestamptz,
      is_snoozed boolean NOT NULL DEFAULT false,
      assignee text,
      report text NOT NULL DEFAULT '',
      previous uuid,
      lead_id uuid CONSTRAINT incidents_lead_fkey REFERENCES incidents ON DELETE SET NULL,
      merged_at timestamptz,
      CONSTRAINT incidents_state_check CHECK (state IN ('waiting', 'alerting', 'acknowledged', 'resolved'))
    ) WITH (fillfactor = 80);
    COMMENT ON COLUMN incidents.policy_id IS 'policy of the last evaluation; NULL if notified directly or by the implicit policy';
    COMMENT ON COLUMN incidents.notified IS 'number of entries already sent, per step of the plan';
    COMMENT ON COLUMN incidents.skips IS 'waiting time skipped before each step of the plan, in microseconds';
    COMMENT ON COLUMN incidents.sequences IS 'notifications of persons; NULL if no step of the policies had people';
    COMMENT ON COLUMN incidents.exhausted_at IS 'when the last notification was sent; NULL while others may follow';
    COMMENT ON COLUMN incidents.is_escalating IS 'true if a person requested the next step, until the alerter evaluates it';
    COMMENT ON COLUMN incidents.lead_id IS 'incident that this one is merged into; while that one is open, this one is suppressed';
    COMMENT ON COLUMN incidents.is_snoozed IS 'true if the end of the acknowledgement notifies again';
    COMMENT ON COLUMN incidents.plan_version IS 'policy version at the last evaluation; a changed policy applies from that moment only';
    CREATE INDEX incidents_acknowledged_idx ON incidents (project_id) WHERE state = 'acknowledged';
    COMMENT ON INDEX incidents_acknowledged_idx IS 'finds the acknowledged incidents of a project for its list of checks';
    CREATE INDEX incidents_check_idx ON incidents (check_id, n DESC);
    COMMENT ON INDEX incidents_check_idx IS 'lists the incidents of a check, newest first; supports its deletion';
    CREATE INDEX incidents_due_idx ON incidents (next_at) WHERE next_at IS NOT NULL;
    COMMENT ON INDEX incidents_due_idx IS 'alerter: finds incidents whose next evaluation is due';
    CREATE INDEX incidents_group_idx ON incidents (policy_id, alert_at)
      WHERE (suppression = 'GROUPING') AND (resolved_at IS NULL);
    COMMENT ON INDEX incidents_group_idx IS 'finds the incidents of a policy that wait for grouping, and the earliest of them';
    CREATE UNIQUE INDEX incidents_open_key ON incidents (check_id) WHERE resolved_at IS NULL;
    COMMENT ON INDEX incidents_open_key IS 'allows at most one open incident per check';
    CREATE INDEX incidents_lead_idx ON incidents (lead_id) WHERE lead_id IS NOT NULL;
    COMMENT ON INDEX incidents_lead_idx IS 'finds the members of a merged incident; supports its deletion';
    CREATE INDEX incidents_project_idx ON incidents (project_id, n DESC);
    COMMENT ON INDEX incidents_project_idx IS 'lists the incidents of a project, newest first';
    CREATE INDEX incidents_resolved_idx ON incidents (resolved_at) WHERE resolved_at IS NOT NULL;
    COMMENT ON INDEX incidents_resolved_idx IS 'retention: deletes old rows';
    CREATE INDEX incidents_suppressed_idx ON incidents (project_id) WHERE suppression IN ('PARENT_DOWN', 'PARENT_LATE');
    COMMENT ON INDEX incidents_suppressed_idx IS 'alerter: finds incidents suppressed by a parent, to re-evaluate them after its flip';

    CREATE TABLE incident_events (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT incident_events_pkey PRIMARY KEY,
      incident_id uuid NOT NULL CONSTRAINT incident_events_incident_fkey REFERENCES incidents ON DELETE CASCADE,
      at timestamptz NOT NULL DEFAULT now(),
      kind text NOT NULL,
      actor_name text NOT NULL DEFAULT '',
      via text NOT NULL DEFAULT '',
      text text NOT NULL DEFAULT '',
      until_at timestamptz,
      CONSTRAINT incident_events_kind_check CHECK (kind IN ('ack', 'unack', 'snooze', 'take', 'assign', 'escalate', 'merge', 'unmerge', 'note', 'report'))
    );
    CREATE INDEX incident_events_incident_idx ON incident_events (incident_id, id);
    COMMENT ON INDEX incident_events_incident_idx IS 'lists the actions on an incident, oldest first';

    CREATE TABLE alert_decisions (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT alert_decisions_pkey PRIMARY KEY,
      check_id bigint NOT NULL CONSTRAINT alert_decisions_check_fkey REFERENCES checks ON DELETE CASCADE,
      flip_id bigint,
      incident_id uuid,
      at timestamptz NOT NULL,
      outcome text NOT NULL,
      reason text NOT NULL,
      detail jsonb NOT NULL DEFAULT '{}',
      until timestamptz,
      channels jsonb NOT NULL DEFAULT '[]',
      people jsonb NOT NULL DEFAULT '[]',
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT alert_decisions_outcome_check CHECK (outcome IN ('notified', 'suppressed', 'skipped', 'none', 'deadline_extended'))
    );
    COMMENT ON COLUMN alert_decisions.created_at IS 'start of the transaction; equals created_at of the notifications created in it';
    CREATE INDEX alert_decisions_at_idx ON alert_decisions (at);
    COMMENT ON INDEX alert_decisions_at_idx IS 'retention: deletes decisions older than the retention of flips';
    CREATE INDEX alert_decisions_check_idx ON alert_decisions (check_id, id DESC);
    COMMENT ON INDEX alert_decisions_check_idx IS 'lists the decisions about a check, newest first; supports its deletion';

    CREATE TABLE notification_bundles (
      id uuid CONSTRAINT notification_bundles_pkey PRIMARY KEY,
      project_id bigint NOT NULL CONSTRAINT notification_bundles_project_fkey REFERENCES projects ON DELETE CASCADE,
      policy_id bigint NOT NULL,
      direction text NOT NULL,
      opened_at timestamptz NOT NULL,
      sent_at timestamptz,
      size integer NOT NULL DEFAULT 0,
      members jsonb NOT NULL DEFAULT '[]',
      send_at timestamptz,
      CONSTRAINT notification_bundles_direction_check CHECK (direction IN ('up', 'down'))
    );
    COMMENT ON COLUMN notification_bundles.send_at IS 'latest time to send the bundle';
    CREATE INDEX notification_bundles_due_idx ON notification_bundles (send_at) WHERE sent_at IS NULL;
    COMMENT ON INDEX notification_bundles_due_idx IS 'alerter: finds open bundles that are due';
    CREATE UNIQUE INDEX notification_bundles_open_key ON notification_bundles (policy_id, direction)
      WHERE sent_at IS NULL;
    COMMENT ON INDEX notification_bundles_open_key IS 'allows one open bundle per policy and direction';
    CREATE INDEX notification_bundles_policy_idx ON notification_bundles (policy_id, direction, sent_at DESC);
    COMMENT ON INDEX notification_bundles_policy_idx IS 'finds the last bundle sent by a policy';
    CREATE INDEX notification_bundles_project_idx ON notification_bundles (project_id, opened_at DESC);
    COMMENT ON INDEX notification_bundles_project_idx IS 'lists the bundles of a project; supports its deletion';

    CREATE TABLE notification_bundle_members (
      bundle_id uuid NOT NULL CONSTRAINT notification_bundle_members_bundle_fkey REFERENCES notification_bundles ON DELETE CASCADE,
      integration_id bigint NOT NULL CONSTRAINT notification_bundle_members_integration_fkey REFERENCES integrations ON DELETE CASCADE,
      incident_id uuid NOT NULL CONSTRAINT notification_bundle_members_incident_fkey REFERENCES incidents ON DELETE CASCADE,
      included boolean NOT NULL DEFAULT false,
      CONSTRAINT notification_bundle_members_pkey PRIMARY KEY (bundle_id, integration_id, incident_id)
    );
    COMMENT ON TABLE notification_bundle_members IS 'incidents in a bundle, per integration';
    COMMENT ON COLUMN notification_bundle_members.included IS 'true if the sent bundle named or counted the incident; a recovery notification must follow';
    CREATE INDEX notification_bundle_members_integration_idx ON notification_bundle_members (integration_id);
    COMMENT ON INDEX notification_bundle_members_integration_idx IS 'supports the deletion of an integration';
    CREATE INDEX notification_bundle_members_incident_idx ON notification_bundle_members (incident_id);
    COMMENT ON INDEX notification_bundle_members_incident_idx IS 'finds the bundles that contain an incident; supports its deletion';

    CREATE TABLE maintenance_windows (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT maintenance_windows_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT maintenance_windows_uuid_key UNIQUE,
      project_id bigint NOT NULL CONSTRAINT maintenance_windows_project_fkey REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL DEFAULT '',
      match text NOT NULL DEFAULT '',
      checks uuid[] NOT NULL DEFAULT '{}',
      starts_at timestamptz,
      ends_at timestamptz,
      every text,
      for_seconds integer,
      tz text NOT NULL DEFAULT 'UTC',
      uptime text NOT NULL DEFAULT 'count',
      shown boolean NOT NULL DEFAULT false,
      cuts jsonb NOT NULL DEFAULT '[]',
      CONSTRAINT maintenance_windows_time_check CHECK ((every IS NULL) = ((starts_at IS NOT NULL) AND (ends_at IS NOT NULL))),
      CONSTRAINT maintenance_windows_uptime_check CHECK (uptime IN ('count', 'exclude'))
    );
    COMMENT ON COLUMN maintenance_windows.cuts IS 'occurrences of a recurring window ended early: start and end in microseconds since 1970';
    CREATE INDEX maintenance_windows_ends_idx ON maintenance_windows (ends_at) WHERE ends_at IS NOT NULL;
    COMMENT ON INDEX maintenance_windows_ends_idx IS 'retention: deletes maintenance windows that ended long ago';
    CREATE INDEX maintenance_windows_project_idx ON maintenance_windows (project_id, id);
    COMMENT ON INDEX maintenance_windows_project_idx IS 'lists the maintenance windows of a project; supports its deletion';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'ALTER TABLE check_rules DROP CONSTRAINT check_rules_policy_fkey; DROP TABLE maintenance_windows, notification_bundle_members, notification_bundles, alert_decisions, incident_events, incidents, alert_policies, check_integrations, integrations',
  )
}
