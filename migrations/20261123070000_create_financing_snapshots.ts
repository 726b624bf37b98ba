import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE domain_keys DROP CONSTRAINT domain_keys_state_check;
    ALTER TABLE domain_keys ADD CONSTRAINT domain_keys_state_check CHECK (state IN ('CURRENT', 'PREVIOUS', 'RETIRED'));
    COMMENT ON COLUMN domain_keys.state IS
      'CURRENT names what is new; PREVIOUS does so too while callers move on; RETIRED only finds what it named';

    CREATE TABLE financing_snapshots (
      id uuid CONSTRAINT financing_snapshots_pkey PRIMARY KEY,
      env text NOT NULL CONSTRAINT financing_snapshots_env_check CHECK (env IN ('SANDBOX', 'PRODUCTION')),
      epoch integer NOT NULL,
      size integer NOT NULL,
      content bytea NOT NULL,
      keys bytea,
      record text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      evaluated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX financing_snapshots_latest_idx ON financing_snapshots (env, epoch, created_at DESC);
    COMMENT ON INDEX financing_snapshots_latest_idx IS 'the newest of an epoch; those whose keys are old';
    COMMENT ON TABLE financing_snapshots IS 'what was registered at an hour, so that absence can be proven';
    COMMENT ON COLUMN financing_snapshots.content IS 'a hash of its keys without the padding: whether anything changed';
    COMMENT ON COLUMN financing_snapshots.keys IS
      'sorted, 32 bytes each, padded with random ones; null once no proof is given from it any more';
    COMMENT ON COLUMN financing_snapshots.evaluated_at IS 'when it was last seen that nothing has changed since';
    COMMENT ON COLUMN financing_snapshots.record IS 'the anchored object that names its root';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE financing_snapshots;
    UPDATE domain_keys SET state = 'PREVIOUS' WHERE state = 'RETIRED';
    ALTER TABLE domain_keys DROP CONSTRAINT domain_keys_state_check;
    ALTER TABLE domain_keys ADD CONSTRAINT domain_keys_state_check CHECK (state IN ('CURRENT', 'PREVIOUS'));
  `)
}
