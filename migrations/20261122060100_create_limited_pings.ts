import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE limited_pings (
      check_id bigint NOT NULL CONSTRAINT limited_pings_pkey PRIMARY KEY
        CONSTRAINT limited_pings_check_fkey REFERENCES checks ON DELETE CASCADE,
      count bigint NOT NULL,
      since timestamptz NOT NULL DEFAULT now(),
      last_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON TABLE limited_pings IS
      'pings of a check that were not logged because there were too many; counted anew after a day without any';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE limited_pings')
}
