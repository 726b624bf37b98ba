import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE webhook_endpoints ADD COLUMN readable text[];
    COMMENT ON COLUMN webhook_endpoints.readable IS
      'filters of the events that the client which made it may read; NULL, as of those made before, is all'`)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE webhook_endpoints DROP COLUMN readable')
}
