import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE decisions ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
    COMMENT ON COLUMN decisions.created_at IS 'of the transaction: that of the notifications which it made'
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE decisions DROP COLUMN created_at')
}
