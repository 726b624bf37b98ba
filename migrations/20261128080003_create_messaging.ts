import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE outbox (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT outbox_pkey PRIMARY KEY,
      message_id uuid NOT NULL,
      message text NOT NULL,
      payload jsonb NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      resend_at timestamptz NOT NULL DEFAULT (now() + '00:00:05'::interval)
    );
    CREATE INDEX outbox_resend_idx ON outbox (resend_at);
    COMMENT ON INDEX outbox_resend_idx IS 'sweep: finds messages without a timely publisher confirm';

    CREATE TABLE processed_messages (
      consumer text NOT NULL,
      message_id uuid NOT NULL,
      recorded_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT processed_messages_pkey PRIMARY KEY (consumer, message_id)
    );
    CREATE INDEX processed_messages_recorded_idx ON processed_messages (recorded_at);
    COMMENT ON INDEX processed_messages_recorded_idx IS 'retention: deletes entries older than the deduplication window';

    CREATE TABLE message_attempts (
      queue text NOT NULL,
      message text NOT NULL,
      starts integer NOT NULL,
      started_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT message_attempts_pkey PRIMARY KEY (queue, message)
    );
    COMMENT ON TABLE message_attempts IS 'handling attempts per redelivered message, to find a message that crashes its process';

    CREATE TABLE dead_letter_actions (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT dead_letter_actions_pkey PRIMARY KEY,
      queue text NOT NULL,
      message_id text NOT NULL,
      action text NOT NULL,
      actor text NOT NULL,
      at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT dead_letter_actions_action_check CHECK (action IN ('replay', 'discard'))
    );

    CREATE TABLE outgoing_mails (
      id uuid CONSTRAINT outgoing_mails_pkey PRIMARY KEY,
      sealed_mail text NOT NULL,
      attempts integer NOT NULL DEFAULT 0,
      next_attempt_at timestamptz NOT NULL DEFAULT now(),
      queued_until timestamptz NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON TABLE outgoing_mails IS 'mails with a link that are still to be sent; deleted once sent or abandoned';
    COMMENT ON COLUMN outgoing_mails.sealed_mail IS 'recipient, subject and text as JSON; encrypted under SECRET_KEY because the link grants access';
    COMMENT ON COLUMN outgoing_mails.queued_until IS 'a queue message is in flight until then; the sweep skips the row';
    CREATE INDEX outgoing_mails_due_idx ON outgoing_mails (next_attempt_at);
    COMMENT ON INDEX outgoing_mails_due_idx IS 'sweep: finds mails whose next attempt is due';

    CREATE TABLE installation (
      is_only boolean DEFAULT true CONSTRAINT installation_pkey PRIMARY KEY,
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      restored_from timestamptz,
      found_at timestamptz,
      watchdog_tried_at timestamptz,
      watchdog_fed_at timestamptz,
      watchdog_problem text,
      CONSTRAINT installation_only_check CHECK (is_only)
    );
    COMMENT ON TABLE installation IS 'single row, created by the first process; a restored copy keeps its id';
    COMMENT ON COLUMN installation.restored_from IS 'time of the restored backup; nothing is sent until the operator confirms (admin restore verify)';
    COMMENT ON COLUMN installation.found_at IS 'when a process detected the restore';
    COMMENT ON COLUMN installation.watchdog_tried_at IS 'when a sweeper last pinged the external watchdog (WATCHDOG_URL)';
    COMMENT ON COLUMN installation.watchdog_fed_at IS 'when the watchdog last responded';
    COMMENT ON COLUMN installation.watchdog_problem IS 'error of the last watchdog ping, or why it was not sent; NULL if healthy';

    CREATE TABLE restore_marks (
      id uuid DEFAULT gen_random_uuid() CONSTRAINT restore_marks_pkey PRIMARY KEY,
      made_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    COMMENT ON TABLE restore_marks IS 'marks written every 30 seconds here and outside; a mark that exists only outside shows that the database was restored';
    CREATE INDEX restore_marks_made_idx ON restore_marks (made_at);
    COMMENT ON INDEX restore_marks_made_idx IS 'finds the newest marks; retention: deletes old marks';

    CREATE TABLE ping_generations (
      generation smallint CONSTRAINT ping_generations_pkey PRIMARY KEY,
      shards smallint NOT NULL,
      opens_at timestamptz NOT NULL,
      drained_at timestamptz,
      retired_at timestamptz,
      set_by text NOT NULL,
      made_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT ping_generations_generation CHECK ((generation >= 0) AND (generation <= 511)),
      CONSTRAINT ping_generations_shards CHECK ((shards >= 1) AND (shards <= 64))
    );
    COMMENT ON TABLE ping_generations IS 'ping queues of one shard count; opens_at: listeners switch; drained_at: next generation is consumed; retired_at: queues are deleted';

    CREATE TABLE ping_streams (
      stream uuid NOT NULL,
      shard smallint NOT NULL,
      last_seq bigint NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT ping_streams_pkey PRIMARY KEY (stream, shard)
    );
    COMMENT ON TABLE ping_streams IS 'last ping message applied per publisher stream and shard; detects redelivered messages';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP TABLE ping_streams, ping_generations, restore_marks, installation, outgoing_mails, dead_letter_actions, message_attempts, processed_messages, outbox',
  )
}
