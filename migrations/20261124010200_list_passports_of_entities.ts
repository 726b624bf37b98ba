import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE entity_passports (
      id uuid CONSTRAINT entity_passports_pkey PRIMARY KEY
        CONSTRAINT entity_passports_record_fkey REFERENCES entity_records ON DELETE CASCADE,
      entity_id uuid NOT NULL CONSTRAINT entity_passports_entity_fkey REFERENCES entities ON DELETE CASCADE,
      list_n bigint NOT NULL CONSTRAINT entity_passports_list_fkey REFERENCES status_lists,
      idx integer NOT NULL,
      credential text NOT NULL,
      revoked_at timestamptz,
      revocation text,
      sealed_reason text,
      CONSTRAINT entity_passports_idx_key UNIQUE (list_n, idx),
      CONSTRAINT entity_passports_revocation_check CHECK ((revoked_at IS NULL) = (revocation IS NULL))
    );
    CREATE INDEX entity_passports_entity_idx ON entity_passports (entity_id);
    COMMENT ON INDEX entity_passports_entity_idx IS 'the passports of an entity: its page, its erasure';
    CREATE INDEX entity_passports_revoked_idx ON entity_passports (list_n, idx) WHERE revoked_at IS NOT NULL;
    COMMENT ON INDEX entity_passports_revoked_idx IS 'the status list: what is revoked';
    COMMENT ON TABLE entity_passports IS 'status and credential of what entity_records anchors';
    COMMENT ON COLUMN entity_passports.credential IS 'the anchored object as SD-JWT VC; without names';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE entity_passports')
}
