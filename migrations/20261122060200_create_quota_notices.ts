import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE quota_notices (
      project_id bigint NOT NULL CONSTRAINT quota_notices_pkey PRIMARY KEY
        CONSTRAINT quota_notices_project_fkey REFERENCES projects ON DELETE CASCADE,
      check_limit integer NOT NULL,
      reached_at timestamptz NOT NULL DEFAULT now(),
      notified_at timestamptz
    );
    COMMENT ON TABLE quota_notices IS
      'projects that reached their limit of checks; notified_at is when their owners were mailed, once a month at most';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE quota_notices')
}
