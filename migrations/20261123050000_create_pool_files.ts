import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE pools ADD COLUMN deal_id text;
    COMMENT ON COLUMN pools.deal_id IS 'what the caller names in events of this pool; the pool''s own id when null';

    CREATE TABLE pool_files (
      cut_id uuid NOT NULL CONSTRAINT pool_files_cut_fkey REFERENCES pool_cuts ON DELETE CASCADE,
      name text NOT NULL,
      n integer NOT NULL,
      length integer NOT NULL,
      piece bytea NOT NULL,
      CONSTRAINT pool_files_pkey PRIMARY KEY (cut_id, name, n)
    );
    COMMENT ON TABLE pool_files IS 'files of a cut, made once: the same bytes from then on';
    COMMENT ON COLUMN pool_files.length IS 'bytes of the whole file, the same in each piece';

    CREATE TABLE eligibility_runs (
      id uuid CONSTRAINT eligibility_runs_pkey PRIMARY KEY,
      cut_id uuid NOT NULL CONSTRAINT eligibility_runs_cut_fkey REFERENCES pool_cuts ON DELETE CASCADE,
      rules text[] NOT NULL,
      results bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON COLUMN eligibility_runs.rules IS 'ids of the consumer''s rules, in its order';
    COMMENT ON COLUMN eligibility_runs.results IS 'per receivable in pool order one byte for each rule: 0 MET, 1 NOT_MET, 2 MISSING';
    CREATE INDEX eligibility_runs_cut_idx ON eligibility_runs (cut_id);
    COMMENT ON INDEX eligibility_runs_cut_idx IS 'a cut takes its runs with it';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE eligibility_runs; DROP TABLE pool_files; ALTER TABLE pools DROP COLUMN deal_id')
}
