import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE windows (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT windows_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT windows_uuid_key UNIQUE,
      project_id bigint NOT NULL CONSTRAINT windows_project_fkey REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL DEFAULT '',
      match text NOT NULL DEFAULT '',
      checks uuid[] NOT NULL DEFAULT '{}',
      starts_at timestamptz,
      ends_at timestamptz,
      every text,
      for_seconds integer,
      tz text NOT NULL DEFAULT 'UTC',
      uptime text NOT NULL DEFAULT 'count' CONSTRAINT windows_uptime_check CHECK (uptime IN ('count', 'exclude')),
      shown boolean NOT NULL DEFAULT false,
      CONSTRAINT windows_time_check CHECK ((every IS NULL) = (starts_at IS NOT NULL AND ends_at IS NOT NULL))
    );
    CREATE INDEX windows_project_idx ON windows (project_id, id);
    COMMENT ON INDEX windows_project_idx IS 'the maintenance windows of a project; its deletion';
    CREATE INDEX windows_ends_idx ON windows (ends_at) WHERE ends_at IS NOT NULL;
    COMMENT ON INDEX windows_ends_idx IS 'retention: windows that are long past';
    CREATE INDEX incidents_held_idx ON incidents (project_id) WHERE held IN ('PARENT_DOWN', 'PARENT_LATE');
    COMMENT ON INDEX incidents_held_idx IS 'the alerter: incidents that a flip of a parent may set free';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX incidents_held_idx; DROP TABLE windows')
}
