import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE webhook_deliveries (
      id uuid CONSTRAINT webhook_deliveries_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      endpoint_id uuid NOT NULL
        CONSTRAINT webhook_deliveries_endpoint_fkey REFERENCES webhook_endpoints ON DELETE CASCADE,
      event_id uuid NOT NULL CONSTRAINT webhook_deliveries_event_fkey REFERENCES events ON DELETE CASCADE,
      order_key text,
      state text NOT NULL CONSTRAINT webhook_deliveries_state_check CHECK (state IN
        ('PENDING', 'DELIVERED', 'FAILED', 'EXHAUSTED', 'SUPPRESSED', 'SUPPRESSED_SANDBOX', 'CANCELLED')),
      attempts integer NOT NULL DEFAULT 0,
      round integer NOT NULL DEFAULT 0,
      next_attempt_at timestamptz NOT NULL,
      queued_until timestamptz,
      claimed_at timestamptz,
      lease_until timestamptz,
      signed_headers jsonb,
      created_at timestamptz NOT NULL,
      finished_at timestamptz,
      CONSTRAINT webhook_deliveries_event_endpoint_key UNIQUE (event_id, endpoint_id)
    ) WITH (fillfactor = 80);
    CREATE INDEX webhook_deliveries_due_idx ON webhook_deliveries (endpoint_id, next_attempt_at, seq)
      WHERE state = 'PENDING';
    COMMENT ON INDEX webhook_deliveries_due_idx IS 'what an endpoint is owed next; which endpoints are owed anything';
    CREATE INDEX webhook_deliveries_in_hand_idx ON webhook_deliveries (endpoint_id, lease_until)
      WHERE lease_until IS NOT NULL;
    COMMENT ON INDEX webhook_deliveries_in_hand_idx IS 'attempts under way per endpoint, in whatever process';
    CREATE INDEX webhook_deliveries_order_idx ON webhook_deliveries (endpoint_id, order_key, seq)
      WHERE state = 'PENDING' AND order_key IS NOT NULL;
    COMMENT ON INDEX webhook_deliveries_order_idx IS 'strict order: whether an earlier delivery of the deal is open';
    CREATE INDEX webhook_deliveries_list_idx ON webhook_deliveries (endpoint_id, seq DESC);
    COMMENT ON INDEX webhook_deliveries_list_idx IS 'the deliveries of an endpoint, newest first; replay';
    COMMENT ON COLUMN webhook_deliveries.order_key IS 'the dealId, where the endpoint requested for strict order';
    COMMENT ON COLUMN webhook_deliveries.attempts IS 'attempts ever claimed; fences a process that lost its lease';
    COMMENT ON COLUMN webhook_deliveries.round IS 'attempts since the schedule last started anew';
    COMMENT ON COLUMN webhook_deliveries.signed_headers IS 'sandbox only: what would have been sent';

    CREATE TABLE webhook_attempts (
      delivery_id uuid NOT NULL
        CONSTRAINT webhook_attempts_delivery_fkey REFERENCES webhook_deliveries ON DELETE CASCADE,
      n integer NOT NULL,
      started_at timestamptz NOT NULL,
      duration_ms integer,
      outcome text NOT NULL
        CONSTRAINT webhook_attempts_outcome_check CHECK (outcome IN ('delivered', 'failed', 'interrupted')),
      status_code integer,
      failure text,
      response bytea,
      CONSTRAINT webhook_attempts_pkey PRIMARY KEY (delivery_id, n),
      CONSTRAINT webhook_attempts_response_check CHECK (length(response) <= 4096)
    );
    COMMENT ON COLUMN webhook_attempts.response IS 'the beginning of the answer, for the operator alone';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE webhook_attempts; DROP TABLE webhook_deliveries')
}
