import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE installation ADD COLUMN watchdog_tried_at timestamptz, ADD COLUMN watchdog_fed_at timestamptz,
      ADD COLUMN watchdog_problem text;
    COMMENT ON COLUMN installation.watchdog_tried_at IS
      'when a sweeper last took its turn to tell the monitor outside (WATCHDOG_URL) that this installation works';
    COMMENT ON COLUMN installation.watchdog_fed_at IS 'when that monitor last answered';
    COMMENT ON COLUMN installation.watchdog_problem IS 'why it was not notified, or did not answer, since; null when all is well';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE installation DROP COLUMN watchdog_tried_at, DROP COLUMN watchdog_fed_at, DROP COLUMN watchdog_problem`)
}
