import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE message_attempts (
      queue text NOT NULL,
      message text NOT NULL,
      starts integer NOT NULL,
      started_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT message_attempts_pkey PRIMARY KEY (queue, message)
    );
    COMMENT ON TABLE message_attempts IS
      'messages handed out again and again: how often their handling has begun, to find the one that kills its process';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE message_attempts')
}
