import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE pack_pdfs (
      pack_id uuid CONSTRAINT pack_pdfs_pkey PRIMARY KEY
        CONSTRAINT pack_pdfs_pack_fkey REFERENCES packs ON DELETE CASCADE,
      sha256 bytea NOT NULL CONSTRAINT pack_pdfs_sha256_check CHECK (length(sha256) = 32),
      bytes bytea NOT NULL,
      statement text NOT NULL,
      tx_id bytea NOT NULL,
      composed_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX pack_pdfs_sha256_idx ON pack_pdfs (sha256);
    COMMENT ON INDEX pack_pdfs_sha256_idx IS 'the verification page: which anchored statement names this file';
    COMMENT ON COLUMN pack_pdfs.bytes IS 'the document as first composed; it is never composed again';
    COMMENT ON COLUMN pack_pdfs.statement IS 'the anchored JSON that names the hash of the file, with its anchor';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE pack_pdfs')
}
