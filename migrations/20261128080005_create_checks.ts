import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
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
      kind text NOT NULL DEFAULT 'simple',
      timeout_seconds integer NOT NULL DEFAULT 86400,
      grace_seconds integer NOT NULL DEFAULT 3600,
      schedule text NOT NULL DEFAULT '',
      tz text NOT NULL DEFAULT 'UTC',
      manual_resume boolean NOT NULL DEFAULT false,
      methods text NOT NULL DEFAULT '',
      start_kw text NOT NULL DEFAULT '',
      success_kw text NOT NULL DEFAULT '',
      failure_kw text NOT NULL DEFAULT '',
      filter_subject boolean NOT NULL DEFAULT false,
      filter_body boolean NOT NULL DEFAULT false,
      filter_http_body boolean NOT NULL DEFAULT false,
      filter_default_fail boolean NOT NULL DEFAULT false,
      status text NOT NULL DEFAULT 'new',
      n_pings bigint NOT NULL DEFAULT 0,
      last_ping timestamptz,
      last_start timestamptz,
      last_start_rid uuid,
      last_duration_us bigint,
      alert_after timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      deadline_extended_at timestamptz,
      expected_from timestamptz,
      rule_bits smallint NOT NULL DEFAULT 0,
      filter_rules jsonb,
      early_seconds integer NOT NULL DEFAULT 0,
      CONSTRAINT checks_kind_check CHECK (kind IN ('simple', 'cron', 'oncalendar')),
      CONSTRAINT checks_methods_check CHECK (methods IN ('', 'POST')),
      CONSTRAINT checks_status_check CHECK (status IN ('new', 'up', 'down', 'paused'))
    ) WITH (fillfactor = 70);
    COMMENT ON COLUMN checks.deadline_extended_at IS 'end of the last coverage gap with an expected ping; counts as a success for deadlines only';
    COMMENT ON COLUMN checks.expected_from IS 'imported checks: counts as a success for deadlines until the first ping; a pause or resume clears it';
    COMMENT ON COLUMN checks.rule_bits IS 'bit mask of the rules that affect the status: 1 runs, 2 sources, 4 previews, 8 ping secret; 0 if plain';
    COMMENT ON COLUMN checks.filter_rules IS 'keyword rules of the check: "json" is the pointer to the searched member; "else": "url" means that the URL decides if no keyword matches; NULL without rules';
    COMMENT ON COLUMN checks.early_seconds IS 'a ping this long before an occurrence of the schedule counts for it';
    CREATE INDEX checks_project_idx ON checks (project_id, id);
    COMMENT ON INDEX checks_project_idx IS 'lists the checks of a project by creation order';
    CREATE INDEX checks_project_name_idx ON checks (project_id, lower(name), id);
    COMMENT ON INDEX checks_project_name_idx IS 'lists the checks of a project by name, page by page';
    CREATE INDEX checks_project_slug_idx ON checks (project_id, slug) WHERE slug <> '';
    COMMENT ON INDEX checks_project_slug_idx IS 'finds a check by ping key and slug; filters the check list by slug';

    CREATE TABLE check_deadlines (
      check_id bigint CONSTRAINT check_deadlines_pkey PRIMARY KEY CONSTRAINT check_deadlines_check_fkey REFERENCES checks ON DELETE CASCADE,
      next_check_at timestamptz NOT NULL
    ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
    COMMENT ON TABLE check_deadlines IS 'next evaluation of each check that has a deadline; never later than alert_after';
    CREATE INDEX check_deadlines_next_check_at_idx ON check_deadlines (next_check_at);
    COMMENT ON INDEX check_deadlines_next_check_at_idx IS 'sweep: finds the checks to evaluate, most overdue first';

    CREATE TABLE check_rules (
      check_id bigint CONSTRAINT check_rules_pkey PRIMARY KEY CONSTRAINT check_rules_check_fkey REFERENCES checks ON DELETE CASCADE,
      policy_id bigint,
      severity text NOT NULL DEFAULT 'critical',
      parents jsonb NOT NULL DEFAULT '[]',
      parents_mode text NOT NULL DEFAULT 'any',
      run jsonb,
      sources jsonb,
      ping_auth jsonb,
      previews text,
      CONSTRAINT check_rules_parents_mode_check CHECK (parents_mode IN ('any', 'all')),
      CONSTRAINT check_rules_severity_check CHECK (severity IN ('info', 'warning', 'critical'))
    );
    CREATE INDEX check_rules_policy_idx ON check_rules (policy_id) WHERE policy_id IS NOT NULL;
    COMMENT ON INDEX check_rules_policy_idx IS 'finds the checks that name a policy; supports its deletion';

    CREATE TABLE check_secrets (
      check_id bigint CONSTRAINT check_secrets_pkey PRIMARY KEY CONSTRAINT check_secrets_check_fkey REFERENCES checks ON DELETE CASCADE,
      sealed_secret text NOT NULL,
      sealed_previous text,
      previous_until timestamptz
    );
    COMMENT ON TABLE check_secrets IS 'ping secrets of checks whose rules require one';
    COMMENT ON COLUMN check_secrets.sealed_previous IS 'previous secret, valid until previous_until';

    CREATE TABLE check_tallies (
      check_id bigint CONSTRAINT check_tallies_pkey PRIMARY KEY CONSTRAINT check_tallies_check_fkey REFERENCES checks ON DELETE CASCADE,
      runs bigint NOT NULL DEFAULT 0,
      began_at timestamptz,
      missed bigint NOT NULL DEFAULT 0,
      streak bigint NOT NULL DEFAULT 0,
      buckets bigint[] NOT NULL DEFAULT '{0,0,0,0,0,0,0,0,0,0,0,0}',
      measured bigint NOT NULL DEFAULT 0,
      seconds double precision NOT NULL DEFAULT 0,
      abandoned_at timestamptz,
      abandoned_notified_at timestamptz,
      expected_from timestamptz
    ) WITH (fillfactor = 70);
    COMMENT ON TABLE check_tallies IS 'run statistics of checks with run rules; frequently updated';
    COMMENT ON COLUMN check_tallies.runs IS 'number of the newest run';
    COMMENT ON COLUMN check_tallies.began_at IS 'newest start, or finish without a start';
    COMMENT ON COLUMN check_tallies.buckets IS 'measured runs per duration bucket, in histogram order; each run is counted once';
    COMMENT ON COLUMN check_tallies.abandoned_at IS 'when a run was last abandoned because too many were open; NULL once the owners are notified';
    COMMENT ON COLUMN check_tallies.expected_from IS 'start of source monitoring: when the rule was set, or the first ping after that; NULL before';
    CREATE INDEX check_tallies_abandoned_idx ON check_tallies (abandoned_at) WHERE abandoned_at IS NOT NULL;
    COMMENT ON INDEX check_tallies_abandoned_idx IS 'sweep: finds the owners to notify of abandoned runs';

    CREATE TABLE deleted_checks (
      uuid uuid CONSTRAINT deleted_checks_pkey PRIMARY KEY,
      owner bytea
    );
    COMMENT ON TABLE deleted_checks IS 'UUIDs of deleted checks, kept forever; only an import of the same organisation may use one again';
    COMMENT ON COLUMN deleted_checks.owner IS 'keyed digest of organisation and uuid, so that the row does not reveal its owner; NULL: no one may use it again';

    CREATE TABLE import_sources (
      check_id bigint NOT NULL CONSTRAINT import_sources_check_fkey REFERENCES checks ON DELETE CASCADE,
      source text NOT NULL,
      key text NOT NULL,
      settings jsonb NOT NULL,
      imported_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT import_sources_pkey PRIMARY KEY (check_id, source)
    );
    COMMENT ON TABLE import_sources IS 'what was last imported of a check from another monitor; the next import compares with it';
    COMMENT ON COLUMN import_sources.key IS 'identifies the check in its source';

    CREATE TABLE push_tokens (
      token text CONSTRAINT push_tokens_pkey PRIMARY KEY,
      check_id bigint NOT NULL CONSTRAINT push_tokens_check_fkey REFERENCES checks ON DELETE CASCADE
    );
    COMMENT ON TABLE push_tokens IS 'push addresses of Uptime Kuma that imported checks keep: /api/push/<token>';
    CREATE INDEX push_tokens_check_idx ON push_tokens (check_id);
    COMMENT ON INDEX push_tokens_check_idx IS 'supports the deletion of a check';

    CREATE TABLE import_plans (
      id uuid CONSTRAINT import_plans_pkey PRIMARY KEY,
      project_id bigint NOT NULL CONSTRAINT import_plans_project_fkey REFERENCES projects ON DELETE CASCADE,
      sealed_plan text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON TABLE import_plans IS 'plans of imports that were shown and not confirmed yet, kept for an hour, without keys';
    CREATE INDEX import_plans_project_idx ON import_plans (project_id);
    COMMENT ON INDEX import_plans_project_idx IS 'supports the deletion of a project';
    CREATE INDEX import_plans_created_at_idx ON import_plans (created_at);
    COMMENT ON INDEX import_plans_created_at_idx IS 'sweep: finds expired plans';

    CREATE TABLE runs (
      check_id bigint NOT NULL CONSTRAINT runs_check_fkey REFERENCES checks ON DELETE CASCADE,
      slot integer NOT NULL,
      n bigint NOT NULL,
      rid uuid,
      source text NOT NULL DEFAULT '',
      started_at timestamptz,
      finished_at timestamptz,
      duration_us bigint,
      outcome text NOT NULL,
      deadline timestamptz,
      flags text[] NOT NULL DEFAULT '{}',
      CONSTRAINT runs_outcome_check CHECK (outcome IN ('open', 'success', 'fail', 'unknown', 'abandoned')),
      CONSTRAINT runs_pkey PRIMARY KEY (check_id, slot)
    ) WITH (fillfactor = 80);
    COMMENT ON TABLE runs IS 'newest runs of checks with a run rule, in a ring buffer like pings';
    COMMENT ON COLUMN runs.outcome IS 'open until the run ends; an open run after its deadline has overrun';
    CREATE INDEX runs_deadline_idx ON runs (deadline) WHERE outcome = 'open';
    COMMENT ON INDEX runs_deadline_idx IS 'sweep: abandons runs long after their deadline';
    CREATE INDEX runs_open_idx ON runs (check_id) WHERE outcome = 'open';
    COMMENT ON INDEX runs_open_idx IS 'lists the open runs of a check';

    CREATE TABLE ping_sources (
      check_id bigint NOT NULL CONSTRAINT ping_sources_check_fkey REFERENCES checks ON DELETE CASCADE,
      name text NOT NULL,
      heard_at timestamptz,
      last_ping timestamptz,
      last_kind text NOT NULL DEFAULT '',
      deadline_extended_at timestamptz,
      CONSTRAINT ping_sources_pkey PRIMARY KEY (check_id, name)
    ) WITH (fillfactor = 70);
    COMMENT ON TABLE ping_sources IS 'machines that report for checks whose rules expect several';
    COMMENT ON COLUMN ping_sources.heard_at IS 'last success; NULL if the source failed since or never succeeded';

    CREATE FUNCTION checks_lower_deadline() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO check_deadlines AS current (check_id, next_check_at) VALUES (NEW.id, NEW.alert_after)
      ON CONFLICT (check_id) DO UPDATE SET next_check_at = excluded.next_check_at WHERE current.next_check_at > excluded.next_check_at;
      RETURN NULL;
    END $$;
    CREATE TRIGGER checks_first_deadline AFTER INSERT ON checks FOR EACH ROW
      WHEN (new.alert_after IS NOT NULL)
      EXECUTE FUNCTION checks_lower_deadline();
    CREATE TRIGGER checks_lower_deadline AFTER UPDATE OF alert_after ON checks FOR EACH ROW
      WHEN ((new.alert_after IS NOT NULL) AND ((old.alert_after IS NULL) OR (new.alert_after < old.alert_after) OR (old.status = 'down')))
      EXECUTE FUNCTION checks_lower_deadline();
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP FUNCTION checks_lower_deadline CASCADE; DROP TABLE ping_sources, runs, import_plans, push_tokens, import_sources, deleted_checks, check_tallies, check_secrets, check_rules, check_deadlines, checks',
  )
}
