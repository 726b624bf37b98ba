import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE maintenance_windows (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT maintenance_windows_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT maintenance_windows_uuid_key UNIQUE,
      project_id bigint NOT NULL CONSTRAINT maintenance_windows_project_fkey REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL DEFAULT '',
      match text NOT NULL DEFAULT '',
      checks uuid[] NOT NULL DEFAULT '{}',
      starts_at timestamptz,
      ends_at timestamptz,
      every text,
      for_seconds integer,
      tz text NOT NULL DEFAULT 'UTC',
      uptime text NOT NULL DEFAULT 'count' CONSTRAINT maintenance_windows_uptime_check CHECK (uptime IN ('count', 'exclude')),
      shown boolean NOT NULL DEFAULT false,
      CONSTRAINT maintenance_windows_time_check CHECK ((every IS NULL) = (starts_at IS NOT NULL AND ends_at IS NOT NULL))
    );
    CREATE INDEX maintenance_windows_project_idx ON maintenance_windows (project_id, id);
    COMMENT ON INDEX maintenance_windows_project_idx IS 'the maintenance windows of a project; its deletion';
    CREATE INDEX maintenance_windows_ends_idx ON maintenance_windows (ends_at) WHERE ends_at IS NOT NULL;
    COMMENT ON INDEX maintenance_windows_ends_idx IS 'retention: windows that are long past';
    CREATE INDEX incidents_suppressed_idx ON incidents (project_id) WHERE suppression IN ('PARENT_DOWN', 'PARENT_LATE');
    COMMENT ON INDEX incidents_suppressed_idx IS 'the alerter: incidents that a flip of a parent may set free';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX incidents_suppressed_idx; DROP TABLE maintenance_windows')
}
