import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE packs ADD COLUMN pair_question bytea;
    COMMENT ON COLUMN packs.pair_question IS
      'names the dilution of borrower and buyer on the day of the request, as evidence_jobs.question does';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE packs DROP COLUMN pair_question')
}
