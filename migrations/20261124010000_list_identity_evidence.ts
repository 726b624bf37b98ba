import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE INDEX identity_verifications_seq_idx ON identity_verifications (seq DESC);
    COMMENT ON INDEX identity_verifications_seq_idx IS 'the verifications of an organisation, newest first';
    CREATE INDEX passports_seq_idx ON passports (seq DESC);
    COMMENT ON INDEX passports_seq_idx IS 'the passports of an organisation, newest first';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX passports_seq_idx; DROP INDEX identity_verifications_seq_idx')
}
