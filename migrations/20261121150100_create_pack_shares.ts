import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE pack_shares (
      id uuid CONSTRAINT pack_shares_pkey PRIMARY KEY,
      pack_id uuid NOT NULL CONSTRAINT pack_shares_pack_fkey REFERENCES packs ON DELETE CASCADE,
      digest bytea NOT NULL CONSTRAINT pack_shares_digest_key UNIQUE,
      created_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      revoked_at timestamptz
    );
    CREATE INDEX pack_shares_pack_idx ON pack_shares (pack_id, created_at DESC);
    COMMENT ON INDEX pack_shares_pack_idx IS 'the links of a pack, newest first';
    COMMENT ON COLUMN pack_shares.digest IS 'of the token in the link, which is shown once and not stored';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE pack_shares')
}
