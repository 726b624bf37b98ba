import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE entity_keys (
      entity_id uuid NOT NULL CONSTRAINT entity_keys_entity_fkey REFERENCES entities ON DELETE CASCADE,
      thumbprint text NOT NULL,
      jwk jsonb NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      revoked_at timestamptz,
      CONSTRAINT entity_keys_pkey PRIMARY KEY (entity_id, thumbprint)
    );
    COMMENT ON TABLE entity_keys IS 'public keys by which an organisation knows that an entity signed a document';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE entity_keys')
}
