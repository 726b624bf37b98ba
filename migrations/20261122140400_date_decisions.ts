import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE alert_decisions ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
    COMMENT ON COLUMN alert_decisions.created_at IS 'of the transaction: that of the notifications which it made'
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE alert_decisions DROP COLUMN created_at')
}
