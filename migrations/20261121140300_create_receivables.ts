import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE receivables (
      id uuid CONSTRAINT receivables_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL
        CONSTRAINT receivables_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT receivables_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      ref text NOT NULL,
      body text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT receivables_ref_key UNIQUE (organisation_id, env, ref)
    );
    COMMENT ON COLUMN receivables.ref IS 'the organisation''s own reference';
    COMMENT ON COLUMN receivables.body IS 'the evidence object in canonical form with its anchor';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE receivables')
}
