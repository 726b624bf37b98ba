import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  // Every ping updates its check. fillfactor leaves room on the page for the next version of the row, and nothing that a
  // ping usually changes is indexed, so that no index has to be touched (heap-only tuples; docs/adr/0003).
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
      sweep_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 70);

    CREATE INDEX checks_project_idx ON checks (project_id, id);
    COMMENT ON INDEX checks_project_idx IS 'the list of a project''s checks, in order of creation';
    CREATE INDEX checks_project_slug_idx ON checks (project_id, slug) WHERE slug <> '';
    COMMENT ON INDEX checks_project_slug_idx IS 'a ping by ping key and slug; the list filtered by slug';
    CREATE INDEX checks_sweep_at_idx ON checks (sweep_at);
    COMMENT ON INDEX checks_sweep_at_idx IS 'the sweep: checks to look at, most overdue first';
    COMMENT ON COLUMN checks.sweep_at IS
      'never later than alert_after, often earlier: it stays when a ping moves the deadline on, so that no index has to be touched; the sweep brings it up to date';

    CREATE FUNCTION checks_lower_sweep_at() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.sweep_at := NEW.alert_after;
        RETURN NEW;
      END $$;
    CREATE TRIGGER checks_lower_sweep_at BEFORE INSERT OR UPDATE OF alert_after ON checks FOR EACH ROW
      WHEN (NEW.alert_after IS NOT NULL AND (NEW.sweep_at IS NULL OR NEW.sweep_at > NEW.alert_after))
      EXECUTE FUNCTION checks_lower_sweep_at();
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE checks; DROP FUNCTION checks_lower_sweep_at')
}
