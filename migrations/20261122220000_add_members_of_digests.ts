import type { Knex } from 'knex'

/** No code has written bundles yet, so they hold no row. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE bundles ADD COLUMN send_at timestamptz;
    COMMENT ON COLUMN bundles.send_at IS 'when the digest goes at the latest';
    CREATE INDEX bundles_due_idx ON bundles (send_at) WHERE sent_at IS NULL;
    COMMENT ON INDEX bundles_due_idx IS 'the alerter: digests that are gathered';
    CREATE INDEX bundles_policy_idx ON bundles (policy_id, direction, sent_at DESC);
    COMMENT ON INDEX bundles_policy_idx IS 'when a policy last sent a digest';

    CREATE TABLE bundle_members (
      bundle_id uuid NOT NULL CONSTRAINT bundle_members_bundle_fkey REFERENCES bundles ON DELETE CASCADE,
      channel_id bigint NOT NULL CONSTRAINT bundle_members_channel_fkey REFERENCES channels ON DELETE CASCADE,
      incident_id uuid NOT NULL CONSTRAINT bundle_members_incident_fkey REFERENCES incidents ON DELETE CASCADE,
      included boolean NOT NULL DEFAULT false,
      CONSTRAINT bundle_members_pkey PRIMARY KEY (bundle_id, channel_id, incident_id)
    );
    CREATE INDEX bundle_members_incident_idx ON bundle_members (incident_id);
    COMMENT ON INDEX bundle_members_incident_idx IS 'whom a digest told of an incident; its deletion';
    CREATE INDEX bundle_members_channel_idx ON bundle_members (channel_id);
    COMMENT ON INDEX bundle_members_channel_idx IS 'deletion of an integration';
    COMMENT ON TABLE bundle_members IS 'which incidents a digest tells an integration of';
    COMMENT ON COLUMN bundle_members.included IS 'the digest went, and named or counted it: it owes a recovery';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE bundle_members;
    DROP INDEX bundles_policy_idx; DROP INDEX bundles_due_idx;
    ALTER TABLE bundles DROP COLUMN send_at;
  `)
}
