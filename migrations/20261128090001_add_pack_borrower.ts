import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE packs ADD COLUMN borrower_gstin text;
    COMMENT ON COLUMN packs.borrower_gstin IS 'for the list and the head of a pack, because the body does not contain it; NULL for packs of earlier releases';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE packs DROP COLUMN borrower_gstin')
}
