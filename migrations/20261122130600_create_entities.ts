import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE entities (
      id uuid CONSTRAINT entities_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL CONSTRAINT entities_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL CONSTRAINT entities_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      vei text NOT NULL,
      is_person boolean NOT NULL DEFAULT false,
      erased_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT entities_vei_key UNIQUE (organisation_id, env, vei)
    );
    COMMENT ON COLUMN entities.vei IS 'the verified entity identifier: of the PAN, or of the company number before';

    CREATE TABLE entity_identifiers (
      entity_id uuid NOT NULL CONSTRAINT entity_identifiers_entity_fkey REFERENCES entities ON DELETE CASCADE,
      type text NOT NULL,
      value text NOT NULL,
      tier text NOT NULL,
      CONSTRAINT entity_identifiers_pkey PRIMARY KEY (entity_id, type, value)
    );

    CREATE TABLE entity_aliases (
      entity_id uuid NOT NULL CONSTRAINT entity_aliases_entity_fkey REFERENCES entities ON DELETE CASCADE,
      vei text NOT NULL,
      CONSTRAINT entity_aliases_pkey PRIMARY KEY (entity_id, vei)
    );
    CREATE INDEX entity_aliases_vei_idx ON entity_aliases (vei);
    COMMENT ON INDEX entity_aliases_vei_idx IS 'an entity by an identifier that it had before';

    CREATE TABLE entity_records (
      id uuid CONSTRAINT entity_records_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      entity_id uuid NOT NULL CONSTRAINT entity_records_entity_fkey REFERENCES entities ON DELETE CASCADE,
      kind text NOT NULL CONSTRAINT entity_records_kind_check
        CHECK (kind IN ('VERIFICATION', 'MEMBERSHIP', 'OWNERS', 'PASSPORT', 'ERASURE')),
      body text NOT NULL,
      sealed_values text,
      subject bytea,
      state text
    );
    CREATE INDEX entity_records_list_idx ON entity_records (entity_id, kind, seq DESC);
    COMMENT ON INDEX entity_records_list_idx IS 'what is recorded of an entity, newest first';
    COMMENT ON COLUMN entity_records.body IS 'the anchored object';
    COMMENT ON COLUMN entity_records.sealed_values IS 'what its commitments stand for, with their salts; erasure deletes it';
    COMMENT ON COLUMN entity_records.subject IS 'of a membership: keyed hash of the organisation it is in';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP TABLE entity_records; DROP TABLE entity_aliases; DROP TABLE entity_identifiers; DROP TABLE entities',
  )
}
