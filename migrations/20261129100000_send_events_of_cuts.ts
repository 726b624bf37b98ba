import type { Knex } from 'knex'

/** The family of cuts has no scopes, so that no endpoint of an API client was allowed to receive its events. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    UPDATE webhook_endpoints e SET readable = readable || 'securitisation.*'::text
    WHERE readable IS NOT NULL AND 'securitisation.*' <> ALL(readable)
      AND EXISTS (SELECT 1 FROM organisation_families f
        WHERE f.organisation_id = e.organisation_id AND f.family = 'securitisation')
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`UPDATE webhook_endpoints SET readable = array_remove(readable, 'securitisation.*')`)
}
