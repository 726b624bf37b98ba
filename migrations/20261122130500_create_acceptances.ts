import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE acceptance_records (
      id uuid CONSTRAINT acceptance_records_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL
        CONSTRAINT acceptance_records_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT acceptance_records_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      receivable_ref text NOT NULL,
      action text NOT NULL CONSTRAINT acceptance_records_action_check
        CHECK (action IN ('ACCEPTED', 'REJECTED', 'PENDING', 'DEEMED_ACCEPTED')),
      registry_action text,
      is_repeat boolean NOT NULL,
      body text NOT NULL
    );
    CREATE INDEX acceptance_records_ref_idx ON acceptance_records (organisation_id, env, receivable_ref, seq DESC);
    COMMENT ON INDEX acceptance_records_ref_idx IS 'what was said of a receivable, newest first';
    COMMENT ON COLUMN acceptance_records.registry_action IS 'what the invoice-action registry said, kept beside';

    CREATE TABLE acceptance_receivables (
      organisation_id bigint NOT NULL
        CONSTRAINT acceptance_receivables_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      receivable_ref text NOT NULL,
      supplier_gstin text NOT NULL,
      buyer_gstin text NOT NULL,
      identity text NOT NULL,
      document_date date NOT NULL,
      amount_paise bigint NOT NULL,
      CONSTRAINT acceptance_receivables_pkey PRIMARY KEY (organisation_id, env, receivable_ref)
    );
    CREATE INDEX acceptance_receivables_pair_idx
      ON acceptance_receivables (organisation_id, env, supplier_gstin, buyer_gstin);
    COMMENT ON INDEX acceptance_receivables_pair_idx IS 'the receivables of a supplier with a buyer';
    COMMENT ON TABLE acceptance_receivables IS 'what a reference stands for, where its organisation has said so';

    CREATE TABLE acceptance_adjustments (
      id uuid CONSTRAINT acceptance_adjustments_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      organisation_id bigint NOT NULL
        CONSTRAINT acceptance_adjustments_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      receivable_ref text NOT NULL,
      kind text NOT NULL,
      amount_paise bigint NOT NULL,
      at timestamptz NOT NULL,
      body text NOT NULL
    );
    CREATE INDEX acceptance_adjustments_ref_idx ON acceptance_adjustments (organisation_id, env, receivable_ref, seq);
    COMMENT ON INDEX acceptance_adjustments_ref_idx IS 'what became of a receivable, in order';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE acceptance_adjustments; DROP TABLE acceptance_receivables; DROP TABLE acceptance_records')
}
