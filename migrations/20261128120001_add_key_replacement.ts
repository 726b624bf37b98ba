import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE project_keys ADD COLUMN replaced_at timestamptz;
    COMMENT ON COLUMN project_keys.replaced_at IS 'when a rotation created its successor; the key works until it is revoked';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE project_keys DROP COLUMN replaced_at')
}
