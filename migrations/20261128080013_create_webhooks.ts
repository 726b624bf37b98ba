import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE webhook_endpoints (
      id uuid CONSTRAINT webhook_endpoints_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL CONSTRAINT webhook_endpoints_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      url text NOT NULL,
      description text NOT NULL DEFAULT '',
      event_types text[] NOT NULL,
      ordered boolean NOT NULL DEFAULT false,
      state text NOT NULL DEFAULT 'ACTIVE',
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
      updated_at timestamptz NOT NULL,
      readable text[],
      CONSTRAINT webhook_endpoints_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT webhook_endpoints_state_check CHECK (state IN ('ACTIVE', 'DISABLED', 'DISABLED_FAILING', 'BLOCKED', 'DELETED'))
    );
    COMMENT ON COLUMN webhook_endpoints.sealed_secret IS 'whsec_ text, encrypted under SECRET_KEY because it signs deliveries';
    COMMENT ON COLUMN webhook_endpoints.breaker IS 'state of the circuit breaker; NULL when closed and healthy';
    COMMENT ON COLUMN webhook_endpoints.paused_until IS 'no attempt before this time; the breaker is open';
    COMMENT ON COLUMN webhook_endpoints.failures IS 'failed attempts since the last success';
    COMMENT ON COLUMN webhook_endpoints.readable IS 'event filters that the creating client may read; NULL means all events, as in older endpoints';
    CREATE INDEX webhook_endpoints_organisation_idx ON webhook_endpoints (organisation_id, env, created_at, id)
      WHERE state <> 'DELETED';
    COMMENT ON INDEX webhook_endpoints_organisation_idx IS 'lists the endpoints of an organisation; finds the endpoints to notify of an event';
    CREATE INDEX webhook_endpoints_state_idx ON webhook_endpoints (state) WHERE state IN ('DISABLED_FAILING', 'BLOCKED');
    COMMENT ON INDEX webhook_endpoints_state_idx IS 'operator: lists the endpoints that the service disabled';

    CREATE TABLE webhook_deliveries (
      id uuid CONSTRAINT webhook_deliveries_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      endpoint_id uuid NOT NULL CONSTRAINT webhook_deliveries_endpoint_fkey REFERENCES webhook_endpoints ON DELETE CASCADE,
      event_id uuid NOT NULL CONSTRAINT webhook_deliveries_event_fkey REFERENCES events ON DELETE CASCADE,
      order_key text,
      state text NOT NULL,
      attempts integer NOT NULL DEFAULT 0,
      attempt_in_schedule integer NOT NULL DEFAULT 0,
      next_attempt_at timestamptz NOT NULL,
      queued_until timestamptz,
      claimed_at timestamptz,
      lease_until timestamptz,
      signed_headers jsonb,
      created_at timestamptz NOT NULL,
      finished_at timestamptz,
      CONSTRAINT webhook_deliveries_state_check CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED', 'EXHAUSTED', 'SUPPRESSED', 'SUPPRESSED_SANDBOX', 'CANCELLED')),
      CONSTRAINT webhook_deliveries_event_endpoint_key UNIQUE (event_id, endpoint_id)
    ) WITH (fillfactor = 80);
    COMMENT ON COLUMN webhook_deliveries.order_key IS 'dealId, if the endpoint requires strict order';
    COMMENT ON COLUMN webhook_deliveries.attempts IS 'attempts claimed in total; fencing token against a process that lost its lease';
    COMMENT ON COLUMN webhook_deliveries.attempt_in_schedule IS 'attempts since the retry schedule last started';
    COMMENT ON COLUMN webhook_deliveries.signed_headers IS 'sandbox only: the headers that would have been sent';
    CREATE INDEX webhook_deliveries_age_idx ON webhook_deliveries USING brin (created_at);
    COMMENT ON INDEX webhook_deliveries_age_idx IS 'retention: finds old rows with a few bytes per block, because rows are stored by age';
    CREATE INDEX webhook_deliveries_due_idx ON webhook_deliveries (endpoint_id, next_attempt_at, seq)
      WHERE state = 'PENDING';
    COMMENT ON INDEX webhook_deliveries_due_idx IS 'finds the next due delivery of an endpoint, and the endpoints with pending deliveries';
    CREATE INDEX webhook_deliveries_in_hand_idx ON webhook_deliveries (endpoint_id, lease_until)
      WHERE lease_until IS NOT NULL;
    COMMENT ON INDEX webhook_deliveries_in_hand_idx IS 'counts the attempts in flight per endpoint across all processes';
    CREATE INDEX webhook_deliveries_list_idx ON webhook_deliveries (endpoint_id, seq DESC);
    COMMENT ON INDEX webhook_deliveries_list_idx IS 'lists the deliveries of an endpoint, newest first; selects them for replay';
    CREATE INDEX webhook_deliveries_order_idx ON webhook_deliveries (endpoint_id, order_key, seq)
      WHERE (state = 'PENDING') AND (order_key IS NOT NULL);
    COMMENT ON INDEX webhook_deliveries_order_idx IS 'strict order: finds an earlier open delivery of the same deal';

    CREATE TABLE webhook_attempts (
      delivery_id uuid NOT NULL CONSTRAINT webhook_attempts_delivery_fkey REFERENCES webhook_deliveries ON DELETE CASCADE,
      n integer NOT NULL,
      started_at timestamptz NOT NULL,
      duration_ms integer,
      outcome text NOT NULL,
      status_code integer,
      failure text,
      response bytea,
      CONSTRAINT webhook_attempts_outcome_check CHECK (outcome IN ('delivered', 'failed', 'interrupted')),
      CONSTRAINT webhook_attempts_response_check CHECK (length(response) <= 4096),
      CONSTRAINT webhook_attempts_pkey PRIMARY KEY (delivery_id, n)
    );
    COMMENT ON COLUMN webhook_attempts.response IS 'first bytes of the response, for the operator only';
    CREATE INDEX webhook_attempts_age_idx ON webhook_attempts USING brin (started_at);
    COMMENT ON INDEX webhook_attempts_age_idx IS 'retention: deletes stored responses of endpoints';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE webhook_attempts, webhook_deliveries, webhook_endpoints')
}
