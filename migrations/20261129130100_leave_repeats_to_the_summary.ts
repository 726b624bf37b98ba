import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE acceptance_records ALTER COLUMN is_repeat DROP NOT NULL;
    COMMENT ON COLUMN acceptance_records.is_repeat IS
      'not read: the order of times decides, and a late record changes it. A later release drops the column';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    UPDATE acceptance_records SET is_repeat = false WHERE is_repeat IS NULL;
    COMMENT ON COLUMN acceptance_records.is_repeat IS NULL;
    ALTER TABLE acceptance_records ALTER COLUMN is_repeat SET NOT NULL;
  `)
}
