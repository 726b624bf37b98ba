import type { Knex } from 'knex'

/** `checks.rule_bits` has a constant default, so no row is rewritten. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE checks ADD COLUMN rule_bits smallint NOT NULL DEFAULT 0;
    COMMENT ON COLUMN checks.rule_bits IS
      'which rules reach into what is true of the check: 1 runs, 2 sources, 4 previews, 8 ping secret; 0 = plain';

    CREATE TABLE check_tallies (
      check_id bigint CONSTRAINT check_tallies_pkey PRIMARY KEY
        CONSTRAINT check_tallies_check_fkey REFERENCES checks ON DELETE CASCADE,
      runs bigint NOT NULL DEFAULT 0,
      began_at timestamptz,
      missed bigint NOT NULL DEFAULT 0,
      streak bigint NOT NULL DEFAULT 0,
      buckets bigint[] NOT NULL DEFAULT '{0,0,0,0,0,0,0,0,0,0,0,0}',
      measured bigint NOT NULL DEFAULT 0,
      seconds double precision NOT NULL DEFAULT 0,
      abandoned_at timestamptz,
      abandoned_notified_at timestamptz
    ) WITH (fillfactor = 70);
    COMMENT ON TABLE check_tallies IS 'what is counted of the runs of checks whose rules watch them; hot';
    COMMENT ON COLUMN check_tallies.runs IS 'number of the newest run';
    COMMENT ON COLUMN check_tallies.began_at IS 'the newest start, or finish without one';
    COMMENT ON COLUMN check_tallies.buckets IS 'measured runs by length, each counted once, in the order of the histogram';
    COMMENT ON COLUMN check_tallies.abandoned_at IS 'when a run was last given up because too many were open';
    CREATE INDEX check_tallies_abandoned_idx ON check_tallies (abandoned_at) WHERE abandoned_at IS NOT NULL;
    COMMENT ON INDEX check_tallies_abandoned_idx IS 'the sweep: owners who are to be notified of runs that were given up';

    CREATE TABLE runs (
      check_id bigint NOT NULL CONSTRAINT runs_check_fkey REFERENCES checks ON DELETE CASCADE,
      slot integer NOT NULL,
      n bigint NOT NULL,
      rid uuid,
      source text NOT NULL DEFAULT '',
      started_at timestamptz,
      finished_at timestamptz,
      duration_us bigint,
      outcome text NOT NULL
        CONSTRAINT runs_outcome_check CHECK (outcome IN ('open', 'success', 'fail', 'unknown', 'abandoned')),
      deadline timestamptz,
      flags text[] NOT NULL DEFAULT '{}',
      CONSTRAINT runs_pkey PRIMARY KEY (check_id, slot)
    ) WITH (fillfactor = 80);
    COMMENT ON TABLE runs IS 'the newest runs of checks whose rules watch them, a ring as pings are';
    COMMENT ON COLUMN runs.outcome IS 'open until it ends; an open one whose deadline has passed has overrun';
    CREATE INDEX runs_open_idx ON runs (check_id) WHERE outcome = 'open';
    COMMENT ON INDEX runs_open_idx IS 'the open runs of a check';
    CREATE INDEX runs_deadline_idx ON runs (deadline) WHERE outcome = 'open';
    COMMENT ON INDEX runs_deadline_idx IS 'the sweep: runs that are given up long after their deadline';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE runs; DROP TABLE check_tallies; ALTER TABLE checks DROP COLUMN rule_bits')
}
