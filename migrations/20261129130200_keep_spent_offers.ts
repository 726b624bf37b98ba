import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE financing_transfers ADD COLUMN spent_at timestamptz;
    COMMENT ON COLUMN financing_transfers.spent_at IS 'when the token was used: it is refused as spent until expires_at';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DELETE FROM financing_transfers WHERE spent_at IS NOT NULL;
    ALTER TABLE financing_transfers DROP COLUMN spent_at;
  `)
}
