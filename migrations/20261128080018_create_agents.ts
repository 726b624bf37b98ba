import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE agent_keys (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT agent_keys_pkey PRIMARY KEY,
      key_id text NOT NULL CONSTRAINT agent_keys_key_id_key UNIQUE,
      organisation_id bigint NOT NULL CONSTRAINT agent_keys_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      name text NOT NULL,
      digest bytea NOT NULL,
      scopes text[] NOT NULL,
      daily_limit integer,
      budgets jsonb NOT NULL DEFAULT '{}',
      made_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      revoked_at timestamptz,
      CONSTRAINT agent_keys_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION'))
    );
    COMMENT ON COLUMN agent_keys.digest IS 'SHA-256 of the whole key; 32 random bytes need no slow hash';
    CREATE INDEX agent_keys_of_organisation ON agent_keys (organisation_id, env, id);

    CREATE TABLE agent_key_days (
      agent_key_id bigint NOT NULL CONSTRAINT agent_key_days_key_fkey REFERENCES agent_keys ON DELETE CASCADE,
      on_date date NOT NULL,
      calls integer NOT NULL,
      last_at timestamptz NOT NULL,
      CONSTRAINT agent_key_days_pkey PRIMARY KEY (agent_key_id, on_date)
    );
    COMMENT ON TABLE agent_key_days IS 'calls per key and UTC day, counted before the response is sent';

    CREATE TABLE agent_key_projects (
      agent_key_id bigint NOT NULL CONSTRAINT agent_key_projects_key_fkey REFERENCES agent_keys ON DELETE CASCADE,
      project_id bigint NOT NULL CONSTRAINT agent_key_projects_project_fkey REFERENCES projects ON DELETE CASCADE,
      CONSTRAINT agent_key_projects_pkey PRIMARY KEY (agent_key_id, project_id)
    );
    CREATE INDEX agent_key_projects_of_project ON agent_key_projects (project_id);

    CREATE TABLE agent_budget_days (
      agent_key_id bigint NOT NULL CONSTRAINT agent_budget_days_key_fkey REFERENCES agent_keys ON DELETE CASCADE,
      family text NOT NULL,
      on_date date NOT NULL,
      units integer NOT NULL DEFAULT 0,
      exhausted_at timestamptz,
      CONSTRAINT agent_budget_days_pkey PRIMARY KEY (agent_key_id, family, on_date)
    );
    COMMENT ON COLUMN agent_budget_days.exhausted_at IS 'when the agents.budget_exhausted event of the day was emitted';

    CREATE TABLE agent_calls (
      call_id uuid CONSTRAINT agent_calls_pkey PRIMARY KEY,
      key_id text NOT NULL,
      organisation_id bigint NOT NULL CONSTRAINT agent_calls_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      tool text NOT NULL,
      arguments_digest bytea NOT NULL,
      code text NOT NULL,
      units integer NOT NULL,
      duration_ms integer NOT NULL,
      called_at timestamptz NOT NULL
    );
    COMMENT ON COLUMN agent_calls.key_id IS 'id of the agent key, or of the client if an access token was used';
    COMMENT ON COLUMN agent_calls.arguments_digest IS 'SHA-256 of the arguments in canonical JSON';
    CREATE INDEX agent_calls_of_organisation ON agent_calls (organisation_id, env, called_at, call_id);

    CREATE TABLE agent_digests (
      organisation_id bigint NOT NULL CONSTRAINT agent_digests_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      on_date date NOT NULL,
      record jsonb NOT NULL,
      CONSTRAINT agent_digests_pkey PRIMARY KEY (organisation_id, env, on_date)
    );
    COMMENT ON TABLE agent_digests IS 'anchored Merkle root of the calls per organisation, environment and UTC day';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP TABLE agent_digests, agent_calls, agent_budget_days, agent_key_projects, agent_key_days, agent_keys',
  )
}
