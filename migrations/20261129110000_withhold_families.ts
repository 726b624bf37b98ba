import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE withheld_families (
      organisation_id bigint NOT NULL
        CONSTRAINT withheld_families_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      family text NOT NULL,
      withheld_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT withheld_families_pkey PRIMARY KEY (organisation_id, family)
    );
    COMMENT ON TABLE withheld_families IS 'families that the operator revoked: owners cannot grant them';
    ALTER TABLE clients ADD COLUMN disabled_by_operator boolean NOT NULL DEFAULT false;
    COMMENT ON COLUMN clients.disabled_by_operator IS 'true: owners cannot enable the client';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE clients DROP COLUMN disabled_by_operator; DROP TABLE withheld_families')
}
