import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  // Who has a key of the securitisation API keeps what it could do before that was a family.
  await knex.raw(`
    INSERT INTO organisation_families (organisation_id, family)
    SELECT DISTINCT organisation_id, 'securitisation' FROM consumer_keys WHERE revoked_at IS NULL
    ON CONFLICT DO NOTHING
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`DELETE FROM organisation_families WHERE family = 'securitisation'`)
}
