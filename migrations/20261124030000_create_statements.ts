import type { Knex } from 'knex'

/** `projects.statements_since` has no default, so no row is rewritten. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE projects ADD COLUMN statements_since date;
    COMMENT ON COLUMN projects.statements_since IS
      'the first UTC day whose history is stated in the transparency log; null: none is';

    CREATE TABLE uptime_statements (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT uptime_statements_pkey PRIMARY KEY,
      project_id bigint NOT NULL CONSTRAINT uptime_statements_project_fkey REFERENCES projects ON DELETE CASCADE,
      on_date date NOT NULL,
      is_correction boolean NOT NULL,
      statement jsonb NOT NULL,
      made_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX uptime_statements_day_key ON uptime_statements (project_id, on_date) WHERE NOT is_correction;
    COMMENT ON INDEX uptime_statements_day_key IS 'a day is stated once; what comes later corrects';
    CREATE INDEX uptime_statements_project_idx ON uptime_statements (project_id, id DESC);
    COMMENT ON INDEX uptime_statements_project_idx IS 'the chain of a project, newest first; its deletion';
    CREATE INDEX uptime_statements_date_idx ON uptime_statements (on_date);
    COMMENT ON INDEX uptime_statements_date_idx IS 'retention';
    COMMENT ON TABLE uptime_statements IS 'days of projects, each hashed into the transparency log of production';

    CREATE TABLE uptime_statement_records (
      statement_id bigint NOT NULL CONSTRAINT uptime_statement_records_statement_fkey REFERENCES uptime_statements ON DELETE CASCADE,
      check_id bigint NOT NULL CONSTRAINT uptime_statement_records_check_fkey REFERENCES checks ON DELETE CASCADE,
      record jsonb NOT NULL,
      flips integer NOT NULL,
      CONSTRAINT uptime_statement_records_pkey PRIMARY KEY (check_id, statement_id)
    );
    CREATE INDEX uptime_statement_records_statement_idx ON uptime_statement_records (statement_id);
    COMMENT ON INDEX uptime_statement_records_statement_idx IS 'the deletion of a statement';
    COMMENT ON COLUMN uptime_statement_records.flips IS 'stored flips of the day when it was stated: one more makes a correction';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE uptime_statement_records; DROP TABLE uptime_statements;
    ALTER TABLE projects DROP COLUMN statements_since;
  `)
}
