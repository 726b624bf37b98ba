import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE project_keys ADD COLUMN name text NOT NULL DEFAULT '';
    ALTER TABLE project_keys ADD COLUMN created_by text NOT NULL DEFAULT '';
    COMMENT ON COLUMN project_keys.created_by IS 'who made it, as the audit log names them; empty for keys of before';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE project_keys DROP COLUMN created_by; ALTER TABLE project_keys DROP COLUMN name')
}
