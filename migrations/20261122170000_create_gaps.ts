import type { Knex } from 'knex'

/** `checks.deadline_extended_at` has no default, so no row is rewritten. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE listener_heartbeats ADD COLUMN shards bigint, ADD COLUMN span integer;
    COMMENT ON COLUMN listener_heartbeats.shards IS
      'proven ability: bit mask of the shards that took a message all the time from from_at to until_at; null for others';
    COMMENT ON COLUMN listener_heartbeats.span IS 'proven ability: number of the row within its process';
    CREATE UNIQUE INDEX listener_heartbeats_span_key ON listener_heartbeats (instance, span) WHERE span IS NOT NULL;
    COMMENT ON INDEX listener_heartbeats_span_key IS 'a span that grows stays one row';

    ALTER TABLE checks ADD COLUMN deadline_extended_at timestamptz;
    COMMENT ON COLUMN checks.deadline_extended_at IS
      'end of the last gap in which a ping was expected and could not be taken: counts as a success, for deadlines only';

    CREATE TABLE coverage_gaps (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT coverage_gaps_pkey PRIMARY KEY,
      listener text NOT NULL CONSTRAINT coverage_gaps_door_check CHECK (listener IN ('http', 'smtp', 'sweeper', 'notifier')),
      shards bigint NOT NULL,
      from_at timestamptz NOT NULL,
      until_at timestamptz,
      kind text NOT NULL CONSTRAINT coverage_gaps_kind_check CHECK (kind IN ('full', 'partial', 'clock', 'detection')),
      cause text NOT NULL,
      CONSTRAINT coverage_gaps_interval_key UNIQUE (listener, from_at, shards, kind)
    );
    CREATE INDEX coverage_gaps_until_idx ON coverage_gaps (until_at);
    COMMENT ON TABLE coverage_gaps IS 'time in which this service could not take signals, or could not look; made of beats alone';
    COMMENT ON COLUMN coverage_gaps.until_at IS 'null while it is open';

    CREATE TABLE refused_pings (
      check_id bigint NOT NULL CONSTRAINT refused_pings_check_fkey REFERENCES checks ON DELETE CASCADE,
      reason text NOT NULL,
      minute timestamptz NOT NULL,
      count bigint NOT NULL,
      last_at timestamptz NOT NULL,
      CONSTRAINT refused_pings_pkey PRIMARY KEY (check_id, reason, minute)
    );
    CREATE INDEX refused_pings_last_idx ON refused_pings (last_at);
    COMMENT ON INDEX refused_pings_last_idx IS 'the sweep: the newest refusal of any check; retention';
    COMMENT ON TABLE refused_pings IS 'pings of known checks that were answered with an error of ours';

    CREATE TABLE unknown_periods (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT unknown_periods_pkey PRIMARY KEY,
      check_id bigint NOT NULL CONSTRAINT unknown_periods_check_fkey REFERENCES checks ON DELETE CASCADE,
      gap_from timestamptz NOT NULL,
      gap_until timestamptz NOT NULL,
      from_at timestamptz NOT NULL,
      until_at timestamptz,
      expected_at timestamptz NOT NULL,
      next_at timestamptz,
      reason text NOT NULL CONSTRAINT unknown_periods_reason_check CHECK (reason IN ('GAP', 'REFUSED_PING')),
      deadline_extended_at timestamptz NOT NULL DEFAULT now(),
      notified_at timestamptz
    );
    CREATE INDEX unknown_periods_check_idx ON unknown_periods (check_id, id DESC);
    COMMENT ON INDEX unknown_periods_check_idx IS 'when a check was unknown, newest first; its deletion';
    CREATE INDEX unknown_periods_open_idx ON unknown_periods (check_id) WHERE until_at IS NULL;
    COMMENT ON INDEX unknown_periods_open_idx IS 'the sweep: those that are not heard yet';
    CREATE INDEX unknown_periods_untold_idx ON unknown_periods (deadline_extended_at) WHERE notified_at IS NULL;
    COMMENT ON INDEX unknown_periods_untold_idx IS 'the sweep: those that nobody was notified of';

    ALTER TABLE projects ADD COLUMN notify_unknown boolean NOT NULL DEFAULT true;
    COMMENT ON COLUMN projects.notify_unknown IS 'whether integrations hear of checks that are unknown because of a gap';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE projects DROP COLUMN notify_unknown;
    DROP TABLE unknown_periods; DROP TABLE refused_pings; DROP TABLE coverage_gaps;
    ALTER TABLE checks DROP COLUMN deadline_extended_at;
    DELETE FROM listener_heartbeats WHERE shards IS NOT NULL;
    DROP INDEX listener_heartbeats_span_key;
    ALTER TABLE listener_heartbeats DROP COLUMN shards, DROP COLUMN span;
  `)
}
