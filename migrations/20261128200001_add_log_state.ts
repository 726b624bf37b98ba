import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE log_keys
      ADD COLUMN stepped_at timestamptz,
      ADD COLUMN refused_reason text,
      ADD COLUMN confirmed_size bigint;
    COMMENT ON COLUMN log_keys.stepped_at IS 'last time at which a sequencer compared the log with its copy of the signed checkpoint';
    COMMENT ON COLUMN log_keys.refused_reason IS 'why nothing is signed';
    COMMENT ON COLUMN log_keys.confirmed_size IS 'the operator confirmed that no larger checkpoint was published; cleared by the next step';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE log_keys DROP COLUMN stepped_at, DROP COLUMN refused_reason, DROP COLUMN confirmed_size')
}
