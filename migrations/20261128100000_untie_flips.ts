import type { Knex } from 'knex'

/**
 * The foreign key of flips looked for the check of each flip and locked it once more, a quarter of what it costs to take
 * a check down. Whoever stores a flip holds the lock of its check already, and a check takes its flips along by a
 * trigger, whatever release removes it, and with the rights of whoever does: before the check goes, since a tenant sees
 * the flips of a check that he sees (docs/adr/0033).
 * Both tables are locked at once, in the order of those who write them: with a weaker lock first, a transaction that has
 * read checks and is about to write them would wait for this one, and this one for it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    LOCK TABLE checks, flips IN ACCESS EXCLUSIVE MODE;
    CREATE FUNCTION checks_delete_flips() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        DELETE FROM flips WHERE check_id = OLD.id;
        RETURN OLD;
      END $$;
    CREATE TRIGGER checks_delete_flips BEFORE DELETE ON checks FOR EACH ROW EXECUTE FUNCTION checks_delete_flips();
    ALTER TABLE flips DROP CONSTRAINT flips_check_fkey
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE flips ADD CONSTRAINT flips_check_fkey FOREIGN KEY (check_id) REFERENCES checks ON DELETE CASCADE;
    DROP TRIGGER checks_delete_flips ON checks;
    DROP FUNCTION checks_delete_flips
  `)
}
