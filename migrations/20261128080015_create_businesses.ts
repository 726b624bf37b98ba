import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE entities (
      id uuid CONSTRAINT entities_pkey PRIMARY KEY,
      organisation_id bigint NOT NULL CONSTRAINT entities_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      env text NOT NULL,
      vei text NOT NULL,
      is_person boolean NOT NULL DEFAULT false,
      erased_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT entities_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      CONSTRAINT entities_vei_key UNIQUE (organisation_id, env, vei)
    );
    COMMENT ON COLUMN entities.vei IS 'verified entity identifier: from the PAN, or from the company number while the PAN is unknown';

    CREATE TABLE entity_aliases (
      entity_id uuid NOT NULL CONSTRAINT entity_aliases_entity_fkey REFERENCES entities ON DELETE CASCADE,
      vei text NOT NULL,
      CONSTRAINT entity_aliases_pkey PRIMARY KEY (entity_id, vei)
    );
    CREATE INDEX entity_aliases_vei_idx ON entity_aliases (vei);
    COMMENT ON INDEX entity_aliases_vei_idx IS 'finds an entity by a former identifier';

    CREATE TABLE entity_identifiers (
      entity_id uuid NOT NULL CONSTRAINT entity_identifiers_entity_fkey REFERENCES entities ON DELETE CASCADE,
      type text NOT NULL,
      value text NOT NULL,
      tier text NOT NULL,
      CONSTRAINT entity_identifiers_pkey PRIMARY KEY (entity_id, type, value)
    );

    CREATE TABLE entity_keys (
      entity_id uuid NOT NULL CONSTRAINT entity_keys_entity_fkey REFERENCES entities ON DELETE CASCADE,
      thumbprint text NOT NULL,
      jwk jsonb NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      revoked_at timestamptz,
      CONSTRAINT entity_keys_pkey PRIMARY KEY (entity_id, thumbprint)
    );
    COMMENT ON TABLE entity_keys IS 'public keys with which an organisation recognises documents signed by an entity';

    CREATE TABLE entity_records (
      id uuid CONSTRAINT entity_records_pkey PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      entity_id uuid NOT NULL CONSTRAINT entity_records_entity_fkey REFERENCES entities ON DELETE CASCADE,
      kind text NOT NULL,
      body text NOT NULL,
      sealed_values text,
      subject bytea,
      state text,
      answer_hashes jsonb,
      CONSTRAINT entity_records_kind_check CHECK (kind IN ('VERIFICATION', 'MEMBERSHIP', 'OWNERS', 'PASSPORT', 'ERASURE'))
    );
    COMMENT ON COLUMN entity_records.body IS 'anchored object';
    COMMENT ON COLUMN entity_records.sealed_values IS 'values of the commitments, with their salts; deleted on erasure';
    COMMENT ON COLUMN entity_records.subject IS 'memberships only: keyed hash of the organisation that the entity belongs to';
    COMMENT ON COLUMN entity_records.answer_hashes IS 'of a verification: SHA-256 of each register answer, by the key of its check';
    CREATE INDEX entity_records_list_idx ON entity_records (entity_id, kind, seq DESC);
    COMMENT ON INDEX entity_records_list_idx IS 'lists the records of an entity by kind, newest first';

    CREATE TABLE entity_passports (
      id uuid CONSTRAINT entity_passports_pkey PRIMARY KEY CONSTRAINT entity_passports_record_fkey REFERENCES entity_records ON DELETE CASCADE,
      entity_id uuid NOT NULL CONSTRAINT entity_passports_entity_fkey REFERENCES entities ON DELETE CASCADE,
      list_n bigint NOT NULL CONSTRAINT entity_passports_list_fkey REFERENCES status_lists,
      idx integer NOT NULL,
      credential text NOT NULL,
      revoked_at timestamptz,
      revocation text,
      sealed_reason text,
      CONSTRAINT entity_passports_revocation_check CHECK ((revoked_at IS NULL) = (revocation IS NULL)),
      CONSTRAINT entity_passports_idx_key UNIQUE (list_n, idx)
    );
    COMMENT ON TABLE entity_passports IS 'status and credential of the passports anchored in entity_records';
    COMMENT ON COLUMN entity_passports.credential IS 'anchored object as SD-JWT VC, without names';
    CREATE INDEX entity_passports_entity_idx ON entity_passports (entity_id);
    COMMENT ON INDEX entity_passports_entity_idx IS 'lists the passports of an entity on its page; supports its erasure';
    CREATE INDEX entity_passports_revoked_idx ON entity_passports (list_n, idx) WHERE revoked_at IS NOT NULL;
    COMMENT ON INDEX entity_passports_revoked_idx IS 'status list: finds the revoked entries';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP TABLE entity_passports, entity_records, entity_keys, entity_identifiers, entity_aliases, entities',
  )
}
