import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  // pings has no foreign key: it would take a row lock on checks per ping. The evaluator locks the check before it
  // inserts, and a delete locks the same row before it removes the pings, so none can be left behind.
  await knex.raw(`
    CREATE TABLE pings (
      check_id bigint NOT NULL,
      slot integer NOT NULL,
      n bigint NOT NULL,
      type text NOT NULL,
      at timestamptz NOT NULL,
      scheme text NOT NULL,
      remote_addr text,
      method text NOT NULL,
      ua text NOT NULL,
      rid uuid,
      exit_status smallint,
      body bytea,
      CONSTRAINT pings_pkey PRIMARY KEY (check_id, slot)
    ) WITH (fillfactor = 80);
    COMMENT ON COLUMN pings.slot IS
      'n modulo the log limit: a ping overwrites the one that falls out of the log (docs/adr/0002)';

    CREATE TABLE flips (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT flips_pkey PRIMARY KEY,
      check_id bigint NOT NULL CONSTRAINT flips_check_fkey REFERENCES checks ON DELETE CASCADE,
      at timestamptz NOT NULL,
      from_status text NOT NULL,
      to_status text NOT NULL,
      reason text NOT NULL DEFAULT '',
      processed_at timestamptz
    );
    CREATE INDEX flips_check_idx ON flips (check_id, id DESC);
    COMMENT ON INDEX flips_check_idx IS 'the flips of a check, newest first';
    CREATE INDEX flips_at_idx ON flips (at);
    COMMENT ON INDEX flips_at_idx IS 'retention: flips older than the window';

    CREATE TABLE ping_streams (
      stream uuid NOT NULL,
      shard smallint NOT NULL,
      last_seq bigint NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT ping_streams_pkey PRIMARY KEY (stream, shard)
    );
    COMMENT ON TABLE ping_streams IS
      'per publishing channel and shard the last ping message applied: a redelivered one is recognised by its number';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE ping_streams; DROP TABLE flips; DROP TABLE pings')
}
