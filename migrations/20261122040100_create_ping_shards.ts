import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE ping_shards (
      only_row boolean CONSTRAINT ping_shards_pkey PRIMARY KEY DEFAULT true CONSTRAINT ping_shards_only_row CHECK (only_row),
      shards smallint NOT NULL CONSTRAINT ping_shards_range CHECK (shards BETWEEN 1 AND 64),
      most smallint NOT NULL,
      set_by text NOT NULL,
      set_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT ping_shards_most CHECK (most >= shards)
    );
    COMMENT ON TABLE ping_shards IS
      'how many ping queues the installation uses: a process that is set otherwise does not take part. most: how many there ever were'
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE ping_shards')
}
