import type { Knex } from 'knex'

/** `checks.excused_at` has no default, so no row is rewritten. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE beats ADD COLUMN shards bigint, ADD COLUMN span integer;
    COMMENT ON COLUMN beats.shards IS
      'proven ability: bit mask of the shards that took a message all the time from from_at to until_at; null for others';
    COMMENT ON COLUMN beats.span IS 'proven ability: number of the row within its process';
    CREATE UNIQUE INDEX beats_span_key ON beats (instance, span) WHERE span IS NOT NULL;
    COMMENT ON INDEX beats_span_key IS 'a span that grows stays one row';

    ALTER TABLE checks ADD COLUMN excused_at timestamptz;
    COMMENT ON COLUMN checks.excused_at IS
      'end of the last gap in which a ping was expected and could not be taken: counts as a success, for deadlines only';

    CREATE TABLE gaps (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT gaps_pkey PRIMARY KEY,
      door text NOT NULL CONSTRAINT gaps_door_check CHECK (door IN ('http', 'smtp', 'sweeper', 'notifier')),
      shards bigint NOT NULL,
      from_at timestamptz NOT NULL,
      until_at timestamptz,
      kind text NOT NULL CONSTRAINT gaps_kind_check CHECK (kind IN ('full', 'partial', 'clock', 'detection')),
      cause text NOT NULL,
      CONSTRAINT gaps_interval_key UNIQUE (door, from_at, shards, kind)
    );
    CREATE INDEX gaps_until_idx ON gaps (until_at);
    COMMENT ON TABLE gaps IS 'time in which this service could not take signals, or could not look; made of beats alone';
    COMMENT ON COLUMN gaps.until_at IS 'null while it is open';

    CREATE TABLE refusals (
      check_id bigint NOT NULL CONSTRAINT refusals_check_fkey REFERENCES checks ON DELETE CASCADE,
      reason text NOT NULL,
      minute timestamptz NOT NULL,
      count bigint NOT NULL,
      last_at timestamptz NOT NULL,
      CONSTRAINT refusals_pkey PRIMARY KEY (check_id, reason, minute)
    );
    CREATE INDEX refusals_last_idx ON refusals (last_at);
    COMMENT ON INDEX refusals_last_idx IS 'the sweep: the newest refusal of any check; retention';
    COMMENT ON TABLE refusals IS 'pings of known checks that were answered with an error of ours';

    CREATE TABLE unknowns (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT unknowns_pkey PRIMARY KEY,
      check_id bigint NOT NULL CONSTRAINT unknowns_check_fkey REFERENCES checks ON DELETE CASCADE,
      gap_from timestamptz NOT NULL,
      gap_until timestamptz NOT NULL,
      from_at timestamptz NOT NULL,
      until_at timestamptz,
      expected_at timestamptz NOT NULL,
      next_at timestamptz,
      reason text NOT NULL CONSTRAINT unknowns_reason_check CHECK (reason IN ('GAP', 'REFUSED_PING')),
      excused_at timestamptz NOT NULL DEFAULT now(),
      told_at timestamptz
    );
    CREATE INDEX unknowns_check_idx ON unknowns (check_id, id DESC);
    COMMENT ON INDEX unknowns_check_idx IS 'when a check was unknown, newest first; its deletion';
    CREATE INDEX unknowns_open_idx ON unknowns (check_id) WHERE until_at IS NULL;
    COMMENT ON INDEX unknowns_open_idx IS 'the sweep: those that are not heard yet';
    CREATE INDEX unknowns_untold_idx ON unknowns (excused_at) WHERE told_at IS NULL;
    COMMENT ON INDEX unknowns_untold_idx IS 'the sweep: those that nobody was told of';

    ALTER TABLE projects ADD COLUMN tell_unknown boolean NOT NULL DEFAULT true;
    COMMENT ON COLUMN projects.tell_unknown IS 'whether integrations hear of checks that are unknown because of a gap';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE projects DROP COLUMN tell_unknown;
    DROP TABLE unknowns; DROP TABLE refusals; DROP TABLE gaps;
    ALTER TABLE checks DROP COLUMN excused_at;
    DELETE FROM beats WHERE shards IS NOT NULL;
    DROP INDEX beats_span_key;
    ALTER TABLE beats DROP COLUMN shards, DROP COLUMN span;
  `)
}
