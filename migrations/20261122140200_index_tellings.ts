import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE UNIQUE INDEX CONCURRENTLY notifications_incident_key ON notifications (incident_id, integration_id, what, entry)
      WHERE incident_id IS NOT NULL
  `)
  await knex.raw(`
    CREATE UNIQUE INDEX CONCURRENTLY notifications_bundle_key ON notifications (bundle_id, integration_id)
      WHERE bundle_id IS NOT NULL
  `)
  await knex.raw(`
    COMMENT ON INDEX notifications_incident_key IS 'no entry of a plan is notified twice to an integration; tellings of an incident';
    COMMENT ON INDEX notifications_bundle_key IS 'a digest goes to an integration once'
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX notifications_incident_key; DROP INDEX notifications_bundle_key')
}

/** The table is written to all the time, and an index that is made in a transaction would hold that up. */
export const config = { transaction: false }
