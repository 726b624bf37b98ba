import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE receivables ADD COLUMN identity text;
    UPDATE receivables SET identity = 'ref:' || ref;
    ALTER TABLE receivables ALTER COLUMN identity SET NOT NULL;
    ALTER TABLE receivables DROP CONSTRAINT receivables_ref_key;
    ALTER TABLE receivables ADD CONSTRAINT receivables_identity_key UNIQUE (organisation_id, env, identity);
    CREATE INDEX receivables_ref_idx ON receivables (organisation_id, env, ref);
    COMMENT ON INDEX receivables_ref_idx IS 'receivables by the organisation''s own reference';
    COMMENT ON COLUMN receivables.identity IS
      'supplier, financial year, type and number: two suppliers may use the same number';

    CREATE TABLE order_records (
      id uuid CONSTRAINT order_records_pkey PRIMARY KEY,
      pack_id uuid NOT NULL CONSTRAINT order_records_pack_key UNIQUE
        CONSTRAINT order_records_pack_fkey REFERENCES packs ON DELETE CASCADE,
      body text NOT NULL
    );
    COMMENT ON TABLE order_records IS 'the anchored object of each purchase order that was presented first';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE order_records;
    DELETE FROM receivables a USING receivables b
      WHERE a.organisation_id = b.organisation_id AND a.env = b.env AND a.ref = b.ref AND a.id > b.id;
    DROP INDEX receivables_ref_idx;
    ALTER TABLE receivables DROP COLUMN identity;
    ALTER TABLE receivables ADD CONSTRAINT receivables_ref_key UNIQUE (organisation_id, env, ref);
  `)
}
