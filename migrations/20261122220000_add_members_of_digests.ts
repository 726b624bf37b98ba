import type { Knex } from 'knex'

/** No code has written bundles yet, so they hold no row. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE notification_bundles ADD COLUMN send_at timestamptz;
    COMMENT ON COLUMN notification_bundles.send_at IS 'when the digest goes at the latest';
    CREATE INDEX notification_bundles_due_idx ON notification_bundles (send_at) WHERE sent_at IS NULL;
    COMMENT ON INDEX notification_bundles_due_idx IS 'the alerter: digests that are gathered';
    CREATE INDEX notification_bundles_policy_idx ON notification_bundles (policy_id, direction, sent_at DESC);
    COMMENT ON INDEX notification_bundles_policy_idx IS 'when a policy last sent a digest';

    CREATE TABLE notification_bundle_members (
      bundle_id uuid NOT NULL CONSTRAINT notification_bundle_members_bundle_fkey REFERENCES notification_bundles ON DELETE CASCADE,
      integration_id bigint NOT NULL CONSTRAINT notification_bundle_members_channel_fkey REFERENCES integrations ON DELETE CASCADE,
      incident_id uuid NOT NULL CONSTRAINT notification_bundle_members_incident_fkey REFERENCES incidents ON DELETE CASCADE,
      included boolean NOT NULL DEFAULT false,
      CONSTRAINT notification_bundle_members_pkey PRIMARY KEY (bundle_id, integration_id, incident_id)
    );
    CREATE INDEX notification_bundle_members_incident_idx ON notification_bundle_members (incident_id);
    COMMENT ON INDEX notification_bundle_members_incident_idx IS 'whom a digest notified of an incident; its deletion';
    CREATE INDEX notification_bundle_members_channel_idx ON notification_bundle_members (integration_id);
    COMMENT ON INDEX notification_bundle_members_channel_idx IS 'deletion of an integration';
    COMMENT ON TABLE notification_bundle_members IS 'which incidents a digest notifies an integration of';
    COMMENT ON COLUMN notification_bundle_members.included IS 'the digest went, and named or counted it: it owes a recovery';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE notification_bundle_members;
    DROP INDEX notification_bundles_policy_idx; DROP INDEX notification_bundles_due_idx;
    ALTER TABLE notification_bundles DROP COLUMN send_at;
  `)
}
