import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE listener_heartbeats (
      instance uuid NOT NULL,
      from_at timestamptz NOT NULL,
      kind text NOT NULL,
      until_at timestamptz NOT NULL,
      settled_until timestamptz,
      settles_within interval,
      ended text,
      shards bigint,
      span integer,
      CONSTRAINT listener_heartbeats_kind_check CHECK (kind IN ('http', 'smtp', 'sweeper', 'notifier')),
      CONSTRAINT listener_heartbeats_settled_check CHECK ((settled_until IS NULL) = (settles_within IS NULL)),
      CONSTRAINT listener_heartbeats_pkey PRIMARY KEY (instance, from_at)
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
    COMMENT ON TABLE listener_heartbeats IS 'liveness of each process; every heartbeat advances until_at';
    COMMENT ON COLUMN listener_heartbeats.instance IS 'identifies one start of a process';
    COMMENT ON COLUMN listener_heartbeats.settled_until IS 'listeners: all pings that arrived before this time are answered';
    COMMENT ON COLUMN listener_heartbeats.settles_within IS 'listeners: no ping is answered with success later than this after its arrival';
    COMMENT ON COLUMN listener_heartbeats.ended IS 'clean: the process shut down, closed: the listener was removed; NULL otherwise';
    COMMENT ON COLUMN listener_heartbeats.shards IS 'coverage proofs: bit mask of the shards that accepted messages from from_at to until_at; NULL otherwise';
    COMMENT ON COLUMN listener_heartbeats.span IS 'coverage proofs: number of the row within its process';
    CREATE UNIQUE INDEX listener_heartbeats_span_key ON listener_heartbeats (instance, span) WHERE span IS NOT NULL;
    COMMENT ON INDEX listener_heartbeats_span_key IS 'upsert target: extending a span updates its row';

    CREATE TABLE coverage_gaps (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT coverage_gaps_pkey PRIMARY KEY,
      listener text NOT NULL,
      shards bigint NOT NULL,
      from_at timestamptz NOT NULL,
      until_at timestamptz,
      kind text NOT NULL,
      cause text NOT NULL,
      CONSTRAINT coverage_gaps_listener_check CHECK (listener IN ('http', 'smtp', 'sweeper', 'notifier')),
      CONSTRAINT coverage_gaps_kind_check CHECK (kind IN ('full', 'partial', 'clock', 'detection')),
      CONSTRAINT coverage_gaps_interval_key UNIQUE (listener, from_at, shards, kind)
    );
    COMMENT ON TABLE coverage_gaps IS 'periods in which pings could not be received or deadlines not evaluated; derived from heartbeats only';
    COMMENT ON COLUMN coverage_gaps.until_at IS 'NULL while open';
    CREATE INDEX coverage_gaps_until_idx ON coverage_gaps (until_at);

    CREATE TABLE unknown_periods (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT unknown_periods_pkey PRIMARY KEY,
      check_id bigint NOT NULL CONSTRAINT unknown_periods_check_fkey REFERENCES checks ON DELETE CASCADE,
      gap_from timestamptz NOT NULL,
      gap_until timestamptz NOT NULL,
      from_at timestamptz NOT NULL,
      until_at timestamptz,
      expected_at timestamptz NOT NULL,
      next_at timestamptz,
      reason text NOT NULL,
      deadline_extended_at timestamptz NOT NULL DEFAULT now(),
      notified_at timestamptz,
      CONSTRAINT unknown_periods_reason_check CHECK (reason IN ('GAP', 'REFUSED_PING'))
    );
    CREATE INDEX unknown_periods_check_idx ON unknown_periods (check_id, id DESC);
    COMMENT ON INDEX unknown_periods_check_idx IS 'lists the unknown periods of a check, newest first; supports its deletion';
    CREATE INDEX unknown_periods_open_idx ON unknown_periods (check_id) WHERE until_at IS NULL;
    COMMENT ON INDEX unknown_periods_open_idx IS 'sweep: finds open unknown periods';
    CREATE INDEX unknown_periods_unnotified_idx ON unknown_periods (deadline_extended_at) WHERE notified_at IS NULL;
    COMMENT ON INDEX unknown_periods_unnotified_idx IS 'sweep: finds unknown periods without a notification';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE unknown_periods, coverage_gaps, listener_heartbeats')
}
