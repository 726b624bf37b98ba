import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE rate_limits ADD COLUMN granted integer NOT NULL DEFAULT 0;
    COMMENT ON COLUMN rate_limits.granted IS
      'how many of the tokens last requested for were given: what the statement that takes them returns';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE rate_limits DROP COLUMN granted')
}
