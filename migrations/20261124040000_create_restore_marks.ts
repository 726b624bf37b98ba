import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE installation (
      is_only boolean NOT NULL DEFAULT true
        CONSTRAINT installation_pkey PRIMARY KEY CONSTRAINT installation_only_check CHECK (is_only),
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      restored_from timestamptz,
      found_at timestamptz
    );
    COMMENT ON TABLE installation IS 'one row, made by the first process; a restored copy keeps its id';
    COMMENT ON COLUMN installation.restored_from IS
      'the database was restored from this moment, and nothing goes out until the operator has looked (admin restore verify)';
    COMMENT ON COLUMN installation.found_at IS 'when a process found that out';

    CREATE TABLE restore_marks (
      id uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT restore_marks_pkey PRIMARY KEY,
      made_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE INDEX restore_marks_made_idx ON restore_marks (made_at);
    COMMENT ON INDEX restore_marks_made_idx IS 'the newest marks; those that are old enough to go';
    COMMENT ON TABLE restore_marks IS
      'made every half a minute and kept outside as well: a mark that is outside and not here says that this is a restored copy';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE restore_marks; DROP TABLE installation')
}
