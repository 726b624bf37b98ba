import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  // fillfactor leaves room on the page for the next version of the row: every ping updates it.
  await knex.raw(`
    CREATE TABLE checks (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT checks_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT checks_uuid_key UNIQUE,
      project_id bigint NOT NULL CONSTRAINT checks_project_fkey REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL DEFAULT '',
      slug text NOT NULL DEFAULT '',
      tags text NOT NULL DEFAULT '',
      description text NOT NULL DEFAULT '',
      badge_key uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT checks_badge_key_key UNIQUE,
      kind text NOT NULL DEFAULT 'simple' CONSTRAINT checks_kind_check CHECK (kind IN ('simple', 'cron', 'oncalendar')),
      timeout_seconds integer NOT NULL DEFAULT 86400,
      grace_seconds integer NOT NULL DEFAULT 3600,
      schedule text NOT NULL DEFAULT '',
      tz text NOT NULL DEFAULT 'UTC',
      manual_resume boolean NOT NULL DEFAULT false,
      methods text NOT NULL DEFAULT '' CONSTRAINT checks_methods_check CHECK (methods IN ('', 'POST')),
      start_kw text NOT NULL DEFAULT '',
      success_kw text NOT NULL DEFAULT '',
      failure_kw text NOT NULL DEFAULT '',
      filter_subject boolean NOT NULL DEFAULT false,
      filter_body boolean NOT NULL DEFAULT false,
      filter_http_body boolean NOT NULL DEFAULT false,
      filter_default_fail boolean NOT NULL DEFAULT false,
      status text NOT NULL DEFAULT 'new' CONSTRAINT checks_status_check CHECK (status IN ('new', 'up', 'down', 'paused')),
      n_pings bigint NOT NULL DEFAULT 0,
      last_ping timestamptz,
      last_start timestamptz,
      last_start_rid uuid,
      last_duration_us bigint,
      alert_after timestamptz,
      provisioned boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 70);

    CREATE INDEX checks_project_idx ON checks (project_id, id);
    COMMENT ON INDEX checks_project_idx IS 'the list of a project''s checks, in order of creation';
    CREATE INDEX checks_project_slug_idx ON checks (project_id, slug) WHERE slug <> '';
    COMMENT ON INDEX checks_project_slug_idx IS 'a ping by ping key and slug; the list filtered by slug';
    CREATE UNIQUE INDEX checks_provisioned_slug_key ON checks (project_id, slug) WHERE provisioned;
    COMMENT ON INDEX checks_provisioned_slug_key IS 'two concurrent ?create=1 pings make one check';
    CREATE INDEX checks_alert_after_idx ON checks (alert_after) WHERE status <> 'down' AND alert_after IS NOT NULL;
    COMMENT ON INDEX checks_alert_after_idx IS 'the sweep: overdue checks, most overdue first';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE checks')
}
