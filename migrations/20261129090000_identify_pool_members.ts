import type { Knex } from 'knex'

/** The date of a document is encrypted, so members that are there already have none and do not limit a cut. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE pool_members ADD COLUMN identity text, ADD COLUMN document_date date')
  await knex.raw(`
    UPDATE pool_members m SET identity = r.identity FROM receivables r WHERE r.id = m.receivable_id
  `)
  await knex.raw('CREATE INDEX CONCURRENTLY pool_members_identity_idx ON pool_members (pool_id, identity)')
  await knex.raw(`COMMENT ON INDEX pool_members_identity_idx IS 'a document that the pool contains already'`)
  await knex.raw(`
    COMMENT ON COLUMN pool_members.identity IS 'supplier, financial year, type and number, as receivables.identity'
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE pool_members DROP COLUMN identity, DROP COLUMN document_date')
}

/** An index of a large table is built outside of a transaction. */
export const config = { transaction: false }
