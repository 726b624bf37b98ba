import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE check_tallies ADD COLUMN expected_from timestamptz;
    COMMENT ON COLUMN check_tallies.expected_from IS
      'when sources became expected: the rule was set, or the first ping after that; null before it';

    CREATE TABLE ping_sources (
      check_id bigint NOT NULL CONSTRAINT ping_sources_check_fkey REFERENCES checks ON DELETE CASCADE,
      name text NOT NULL,
      heard_at timestamptz,
      last_ping timestamptz,
      last_kind text NOT NULL DEFAULT '',
      deadline_extended_at timestamptz,
      CONSTRAINT ping_sources_pkey PRIMARY KEY (check_id, name)
    ) WITH (fillfactor = 70);
    COMMENT ON TABLE ping_sources IS 'the machines that report for checks whose rules expect several';
    COMMENT ON COLUMN ping_sources.heard_at IS 'last success; null when it has failed since, or never succeeded';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE ping_sources; ALTER TABLE check_tallies DROP COLUMN expected_from')
}
