import type { Knex } from 'knex'

/** Compares digits as numbers, as `localeCompare` with `numeric` does. Without ICU, names are ordered by their bytes. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    DO $$
    BEGIN
      CREATE COLLATION natural_order (provider = icu, locale = 'en-u-kn-true');
    EXCEPTION WHEN feature_not_supported THEN
      CREATE COLLATION natural_order FROM "C";
    END $$;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP COLLATION natural_order')
}
