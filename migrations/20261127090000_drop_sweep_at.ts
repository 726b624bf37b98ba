import type { Knex } from 'knex'

/**
 * The sweep's former mark, which `check_deadlines` replaced a release ago and nothing reads any more: its trigger was looked
 * at for every row that pings change.
 * contracts: checks.sweep_at, which no sweep reads since 20261122120000_create_check_marks
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TRIGGER checks_lower_sweep_at ON checks;
    DROP FUNCTION checks_lower_sweep_at;
    ALTER TABLE checks DROP COLUMN sweep_at
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE checks ADD COLUMN sweep_at timestamptz;
    UPDATE checks SET sweep_at = alert_after WHERE alert_after IS NOT NULL;
    CREATE INDEX checks_sweep_at_idx ON checks (sweep_at);
    CREATE FUNCTION checks_lower_sweep_at() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.sweep_at := NEW.alert_after;
        RETURN NEW;
      END $$;
    CREATE TRIGGER checks_lower_sweep_at BEFORE INSERT OR UPDATE OF alert_after ON checks FOR EACH ROW
      WHEN (NEW.alert_after IS NOT NULL AND (NEW.sweep_at IS NULL OR NEW.sweep_at > NEW.alert_after))
      EXECUTE FUNCTION checks_lower_sweep_at()
  `)
}
