import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE idempotency_keys ADD COLUMN erasure_digest bytea;
    COMMENT ON COLUMN idempotency_keys.erasure_digest IS
      'SHA-256 of a credential in the kept answer: whoever erases what was presented of it erases the answer';
    CREATE INDEX idempotency_keys_erasure_idx ON idempotency_keys (erasure_digest) WHERE erasure_digest IS NOT NULL;
    COMMENT ON INDEX idempotency_keys_erasure_idx IS 'answers that hold a credential: the end of its values';
    ALTER TABLE presentation_values ADD COLUMN credential_digests bytea[] NOT NULL DEFAULT '{}';
    COMMENT ON COLUMN presentation_values.credential_digests IS
      'SHA-256 of presented credentials that the sandbox issued: answers that hold one go with the values';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    `ALTER TABLE presentation_values DROP COLUMN credential_digests; DROP INDEX idempotency_keys_erasure_idx;
     ALTER TABLE idempotency_keys DROP COLUMN erasure_digest`,
  )
}
