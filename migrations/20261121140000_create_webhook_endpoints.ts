import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE webhook_endpoints (
      id uuid CONSTRAINT webhook_endpoints_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL
        CONSTRAINT webhook_endpoints_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT webhook_endpoints_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      url text NOT NULL,
      description text NOT NULL DEFAULT '',
      event_types text[] NOT NULL,
      ordered boolean NOT NULL DEFAULT false,
      state text NOT NULL DEFAULT 'ACTIVE' CONSTRAINT webhook_endpoints_state_check
        CHECK (state IN ('ACTIVE', 'DISABLED', 'DISABLED_FAILING', 'BLOCKED', 'DELETED')),
      state_reason text,
      sealed_secret text NOT NULL,
      sealed_previous_secret text,
      previous_expires_at timestamptz,
      breaker jsonb,
      paused_until timestamptz,
      failures integer NOT NULL DEFAULT 0,
      failing_since timestamptz,
      last_success_at timestamptz,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX webhook_endpoints_organisation_idx ON webhook_endpoints (organisation_id, env, created_at, id)
      WHERE state <> 'DELETED';
    COMMENT ON INDEX webhook_endpoints_organisation_idx IS 'the endpoints of an organisation; who is notified of an event';
    CREATE INDEX webhook_endpoints_state_idx ON webhook_endpoints (state) WHERE state IN ('DISABLED_FAILING', 'BLOCKED');
    COMMENT ON INDEX webhook_endpoints_state_idx IS 'the operator: endpoints that the service switched off';
    COMMENT ON COLUMN webhook_endpoints.sealed_secret IS 'whsec_ text, encrypted under SECRET_KEY, since it signs';
    COMMENT ON COLUMN webhook_endpoints.breaker IS 'the circuit breaker as a value; NULL when closed and healthy';
    COMMENT ON COLUMN webhook_endpoints.paused_until IS 'no attempt before it: the breaker is open';
    COMMENT ON COLUMN webhook_endpoints.failures IS 'failed attempts since the last success';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE webhook_endpoints')
}
