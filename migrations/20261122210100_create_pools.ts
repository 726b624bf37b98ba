import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE pools (
      id uuid CONSTRAINT pools_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL CONSTRAINT pools_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT pools_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      name text NOT NULL,
      size integer NOT NULL CONSTRAINT pools_size_check CHECK (size BETWEEN 0 AND 50000),
      built integer NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX pools_list_idx ON pools (organisation_id, env, seq DESC);
    COMMENT ON INDEX pools_list_idx IS 'the pools of an organisation, newest first';
    COMMENT ON COLUMN pools.built IS 'members, from the first, whose evidence object is there';

    CREATE TABLE pool_members (
      pool_id uuid NOT NULL CONSTRAINT pool_members_pool_fkey REFERENCES pools ON DELETE CASCADE,
      place integer NOT NULL,
      reference text NOT NULL,
      sealed_item text NOT NULL,
      receivable_id uuid,
      payload_sha256 bytea,
      body text,
      CONSTRAINT pool_members_pkey PRIMARY KEY (pool_id, place),
      CONSTRAINT pool_members_reference_key UNIQUE (pool_id, reference)
    );
    CREATE INDEX pool_members_receivable_idx ON pool_members (pool_id, receivable_id);
    COMMENT ON INDEX pool_members_receivable_idx IS 'the place of a receivable, for its proof';
    COMMENT ON COLUMN pool_members.reference IS 'the organisation''s own reference';
    COMMENT ON COLUMN pool_members.body IS 'the evidence object as it was anchored';

    CREATE TABLE pool_cuts (
      id uuid CONSTRAINT pool_cuts_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      pool_id uuid NOT NULL CONSTRAINT pool_cuts_pool_fkey REFERENCES pools ON DELETE CASCADE,
      size integer NOT NULL,
      chunks bytea NOT NULL,
      body text NOT NULL
    );
    CREATE INDEX pool_cuts_list_idx ON pool_cuts (pool_id, seq DESC);
    COMMENT ON INDEX pool_cuts_list_idx IS 'the cuts of a pool, newest first';
    COMMENT ON COLUMN pool_cuts.size IS 'the cut has the first so many members of the pool, which only grows';
    COMMENT ON COLUMN pool_cuts.chunks IS 'roots of its complete subtrees of 256 leaves, 32 bytes each';
    COMMENT ON COLUMN pool_cuts.body IS 'the anchored object';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE pool_cuts; DROP TABLE pool_members; DROP TABLE pools')
}
