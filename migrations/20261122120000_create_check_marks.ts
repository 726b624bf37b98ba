import type { Knex } from 'knex'

/**
 * The sweep's mark leaves `checks` for a table of its own: to look in vain then costs a narrow row and one index instead
 * of a wide one and all of its indexes. Triggers keep it for writers of either release. `checks.sweep_at` with its index
 * and trigger stays for sweepers of the release before, which may run beside this one; nothing moves it on any more, so
 * no index is touched. It goes one release later.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE check_deadlines (
      check_id bigint NOT NULL CONSTRAINT check_deadlines_pkey PRIMARY KEY
        CONSTRAINT check_deadlines_check_fkey REFERENCES checks ON DELETE CASCADE,
      next_check_at timestamptz NOT NULL
    ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
    COMMENT ON TABLE check_deadlines IS
      'when the sweep looks at a check: every check with a deadline has a row, never later than alert_after';
    CREATE INDEX check_deadlines_next_check_at_idx ON check_deadlines (next_check_at);
    COMMENT ON INDEX check_deadlines_next_check_at_idx IS 'the sweep: checks to look at, most overdue first';

    -- A mark that is low enough is locked all the same: a sweep that has just read the deadline before this one, and is
    -- about to move the mark there, must be waited for.
    CREATE FUNCTION checks_lower_deadline() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO check_deadlines AS mark (check_id, next_check_at) VALUES (NEW.id, NEW.alert_after)
        ON CONFLICT (check_id) DO UPDATE SET next_check_at = excluded.next_check_at WHERE mark.next_check_at > excluded.next_check_at;
        RETURN NULL;
      END $$;
    CREATE TRIGGER checks_first_deadline AFTER INSERT ON checks FOR EACH ROW
      WHEN (NEW.alert_after IS NOT NULL) EXECUTE FUNCTION checks_lower_deadline();
    CREATE TRIGGER checks_lower_deadline AFTER UPDATE OF alert_after ON checks FOR EACH ROW
      WHEN (NEW.alert_after IS NOT NULL
            AND (OLD.alert_after IS NULL OR NEW.alert_after < OLD.alert_after OR OLD.status = 'down'))
      EXECUTE FUNCTION checks_lower_deadline();
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TRIGGER checks_lower_deadline ON checks;
    DROP TRIGGER checks_first_deadline ON checks;
    DROP FUNCTION checks_lower_deadline;
    DROP TABLE check_deadlines
  `)
}
