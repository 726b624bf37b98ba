import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE INDEX webhook_deliveries_age_idx ON webhook_deliveries USING brin (created_at);
    COMMENT ON INDEX webhook_deliveries_age_idx IS 'retention: rows are stored by age, so a few bytes per block find the old';
    CREATE INDEX webhook_attempts_age_idx ON webhook_attempts USING brin (started_at);
    COMMENT ON INDEX webhook_attempts_age_idx IS 'retention of what endpoints answered';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX webhook_attempts_age_idx; DROP INDEX webhook_deliveries_age_idx')
}
