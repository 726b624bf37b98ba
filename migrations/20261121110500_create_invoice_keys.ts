import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE invoice_keys (
      issuer text NOT NULL,
      kid text NOT NULL,
      env text NOT NULL CONSTRAINT invoice_keys_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      spki_pem text NOT NULL,
      not_before date,
      not_after date,
      provenance text NOT NULL,
      sealed_private_key text,
      added_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT invoice_keys_pkey PRIMARY KEY (issuer, kid),
      CONSTRAINT invoice_keys_private_check CHECK (sealed_private_key IS NULL OR env = 'SANDBOX')
    );
    CREATE UNIQUE INDEX invoice_keys_own_key ON invoice_keys (env) WHERE sealed_private_key IS NOT NULL;
    COMMENT ON INDEX invoice_keys_own_key IS 'the one key with which the sandbox signs its demo e-invoices';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE invoice_keys')
}
