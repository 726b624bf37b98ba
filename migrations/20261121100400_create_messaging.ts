import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE outbox (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT outbox_pkey PRIMARY KEY,
      message_id uuid NOT NULL,
      message text NOT NULL,
      payload jsonb NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      resend_at timestamptz NOT NULL DEFAULT now() + interval '5 seconds'
    );
    CREATE INDEX outbox_resend_idx ON outbox (resend_at);
    COMMENT ON INDEX outbox_resend_idx IS 'the sweep: messages whose publisher did not confirm them in time';

    CREATE TABLE processed_messages (
      consumer text NOT NULL,
      message_id uuid NOT NULL,
      recorded_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT processed_messages_pkey PRIMARY KEY (consumer, message_id)
    );
    CREATE INDEX processed_messages_recorded_idx ON processed_messages (recorded_at);
    COMMENT ON INDEX processed_messages_recorded_idx IS 'retention: entries past the deduplication horizon';

    CREATE UNLOGGED TABLE rate_limits (
      bucket text CONSTRAINT rate_limits_pkey PRIMARY KEY,
      tokens double precision NOT NULL,
      updated_at timestamptz NOT NULL
    ) WITH (fillfactor = 50);

    CREATE TABLE dead_letter_actions (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT dead_letter_actions_pkey PRIMARY KEY,
      queue text NOT NULL,
      message_id text NOT NULL,
      action text NOT NULL CONSTRAINT dead_letter_actions_action_check CHECK (action IN ('replay', 'discard')),
      actor text NOT NULL,
      at timestamptz NOT NULL DEFAULT now()
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP TABLE dead_letter_actions; DROP TABLE rate_limits; DROP TABLE processed_messages; DROP TABLE outbox',
  )
}
