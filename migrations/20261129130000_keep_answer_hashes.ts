import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE entity_records ADD COLUMN answer_hashes jsonb;
    COMMENT ON COLUMN entity_records.answer_hashes IS
      'of a verification: by the key of each check, SHA-256 of what its register answered';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE entity_records DROP COLUMN answer_hashes')
}
