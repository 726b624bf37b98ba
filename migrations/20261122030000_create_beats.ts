import type { Knex } from 'knex'

/** Rows are updated every second and never grow: half a page is left free, so that no index entry is written. */
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
      CONSTRAINT listener_heartbeats_pkey PRIMARY KEY (instance, from_at),
      CONSTRAINT listener_heartbeats_kind_check CHECK (kind IN ('http', 'smtp', 'evaluator', 'sweeper', 'notifier')),
      CONSTRAINT listener_heartbeats_settled_check CHECK ((settled_until IS NULL) = (settles_within IS NULL))
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
    COMMENT ON TABLE listener_heartbeats IS 'when each process was there: it moves until_at on while it is';
    COMMENT ON COLUMN listener_heartbeats.instance IS 'one start of a process';
    COMMENT ON COLUMN listener_heartbeats.settled_until IS
      'listeners: every ping that this one has taken or will take with an earlier arrival is answered';
    COMMENT ON COLUMN listener_heartbeats.settles_within IS 'listeners: no ping is answered with success after this time';
    COMMENT ON COLUMN listener_heartbeats.ended IS 'clean: it signed off; nothing more comes of it';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE beats')
}
