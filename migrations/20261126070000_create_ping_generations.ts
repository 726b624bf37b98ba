import type { Knex } from 'knex'

/**
 * The number of ping queues becomes a sequence of generations (docs/adr/0038). What is in use is the first; while it is
 * the only one, processes of the release before go by `ping_shards` as they did. `shards` of that table is 0 from the
 * first change on: none of their numbers fits any more, so they take no part instead of sending where nobody reads. What
 * was said of all shards stays said of all of them, however many there will be.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE ping_generations (
      generation smallint CONSTRAINT ping_generations_pkey PRIMARY KEY
        CONSTRAINT ping_generations_generation CHECK (generation BETWEEN 0 AND 511),
      shards smallint NOT NULL CONSTRAINT ping_generations_shards CHECK (shards BETWEEN 1 AND 64),
      opens_at timestamptz NOT NULL,
      drained_at timestamptz,
      retired_at timestamptz,
      set_by text NOT NULL,
      made_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON TABLE ping_generations IS
      'queues of pings under one number of shards; a new number makes a new generation. opens_at: listeners send there from then on. drained_at: what comes after it may be taken. retired_at: nobody can send there any more, its queues are deleted';
    INSERT INTO ping_generations (generation, shards, opens_at, set_by) SELECT 0, shards, set_at, set_by FROM ping_shards;
    ALTER TABLE ping_shards DROP CONSTRAINT ping_shards_range,
      ADD CONSTRAINT ping_shards_range CHECK (shards BETWEEN 0 AND 64);
    UPDATE listener_heartbeats SET shards = -1 FROM ping_shards
      WHERE span IS NOT NULL AND ping_shards.shards < 64 AND listener_heartbeats.shards = (1::bigint << ping_shards.shards) - 1;
    UPDATE coverage_gaps SET shards = -1 FROM ping_shards
      WHERE ping_shards.shards < 64 AND coverage_gaps.shards = (1::bigint << ping_shards.shards) - 1
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    UPDATE ping_shards SET shards = (SELECT shards FROM ping_generations ORDER BY generation DESC LIMIT 1) WHERE shards = 0;
    ALTER TABLE ping_shards DROP CONSTRAINT ping_shards_range,
      ADD CONSTRAINT ping_shards_range CHECK (shards BETWEEN 1 AND 64);
    DROP TABLE ping_generations
  `)
}
