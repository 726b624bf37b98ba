import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE organisations (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT organisations_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT organisations_uuid_key UNIQUE,
      name text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE TABLE projects (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT projects_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT projects_uuid_key UNIQUE,
      organisation_id bigint NOT NULL CONSTRAINT projects_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      name text NOT NULL,
      badge_key uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT projects_badge_key_key UNIQUE,
      check_limit integer CONSTRAINT projects_check_limit_check CHECK (check_limit >= 0),
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX projects_organisation_idx ON projects (organisation_id);
    COMMENT ON INDEX projects_organisation_idx IS 'projects of an organisation; checks counted against its limit';

    CREATE TABLE project_keys (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT project_keys_pkey PRIMARY KEY,
      project_id bigint NOT NULL CONSTRAINT project_keys_project_fkey REFERENCES projects ON DELETE CASCADE,
      kind text NOT NULL CONSTRAINT project_keys_kind_check CHECK (kind IN ('rw', 'ro', 'ping')),
      prefix text NOT NULL,
      digest bytea NOT NULL CONSTRAINT project_keys_digest_key UNIQUE,
      sealed text,
      created_at timestamptz NOT NULL DEFAULT now(),
      last_used_at timestamptz,
      revoked_at timestamptz
    );
    CREATE INDEX project_keys_project_idx ON project_keys (project_id);
    COMMENT ON INDEX project_keys_project_idx IS 'keys listed in the settings of a project';
    COMMENT ON COLUMN project_keys.digest IS 'HMAC-SHA-256 of the key under SECRET_KEY; the key itself is shown once';
    COMMENT ON COLUMN project_keys.sealed IS 'ping keys only: the key encrypted, since pages show it inside ping URLs';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE project_keys; DROP TABLE projects; DROP TABLE organisations')
}
