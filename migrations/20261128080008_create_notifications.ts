import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE notifications (
      id uuid CONSTRAINT notifications_pkey PRIMARY KEY,
      integration_id bigint CONSTRAINT notifications_integration_fkey REFERENCES integrations ON DELETE CASCADE,
      check_id bigint CONSTRAINT notifications_check_fkey REFERENCES checks ON DELETE CASCADE,
      flip_id bigint CONSTRAINT notifications_flip_fkey REFERENCES flips ON DELETE CASCADE,
      check_status text NOT NULL,
      state text NOT NULL DEFAULT 'pending',
      error text NOT NULL DEFAULT '',
      attempts integer NOT NULL DEFAULT 0,
      next_attempt_at timestamptz,
      queued_until timestamptz,
      lease_until timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz,
      incident_id uuid CONSTRAINT notifications_incident_fkey REFERENCES incidents ON DELETE SET NULL,
      bundle_id uuid CONSTRAINT notifications_bundle_fkey REFERENCES notification_bundles ON DELETE CASCADE,
      what text NOT NULL DEFAULT 'flip',
      entry integer NOT NULL DEFAULT 0,
      detail jsonb,
      link_digest bytea,
      user_id bigint CONSTRAINT notifications_user_fkey REFERENCES users ON DELETE CASCADE,
      method_id uuid,
      method_kind text,
      leader_id uuid CONSTRAINT notifications_leader_fkey REFERENCES notifications ON DELETE SET NULL,
      CONSTRAINT notifications_recipient_check CHECK ((integration_id IS NULL) <> (user_id IS NULL)),
      CONSTRAINT notifications_method_check CHECK (method_id IS NULL OR user_id IS NOT NULL),
      CONSTRAINT notifications_check_status_check CHECK (check_status IN ('up', 'down')),
      CONSTRAINT notifications_state_check CHECK (state IN ('pending', 'delivered', 'failed', 'suppressed')),
      CONSTRAINT notifications_what_check CHECK (what IN ('flip', 'test', 'first', 'repeat', 'recovery', 'flapping', 'ack', 'digest', 'unknown', 'shift'))
    );
    COMMENT ON COLUMN notifications.user_id IS 'person who is notified by a contact method; NULL for an integration';
    COMMENT ON COLUMN notifications.method_id IS 'NULL after its deletion';
    COMMENT ON COLUMN notifications.leader_id IS 'notification of the same method whose message includes this one; its own id if it was sent itself';
    COMMENT ON COLUMN notifications.entry IS 'offset in the plan in seconds; flip count of the incident for direct notifications';
    COMMENT ON COLUMN notifications.detail IS 'incident details for the message: step, repeat, reason of a delay';
    COMMENT ON COLUMN notifications.link_digest IS 'SHA-256 of the token in its acknowledge link; null if it has none';
    CREATE UNIQUE INDEX notifications_bundle_key ON notifications (bundle_id, integration_id) WHERE bundle_id IS NOT NULL;
    COMMENT ON INDEX notifications_bundle_key IS 'sends each bundle at most once per integration';
    CREATE INDEX notifications_check_idx ON notifications (check_id, created_at DESC);
    COMMENT ON INDEX notifications_check_idx IS 'lists the notifications of a check, newest first; supports its deletion';
    CREATE INDEX notifications_due_idx ON notifications (next_attempt_at) WHERE state = 'pending';
    COMMENT ON INDEX notifications_due_idx IS 'sweep: finds notifications whose next attempt is due';
    CREATE UNIQUE INDEX notifications_flip_integration_key ON notifications (flip_id, integration_id)
      WHERE flip_id IS NOT NULL;
    COMMENT ON INDEX notifications_flip_integration_key IS 'allows one notification per flip and integration';
    CREATE UNIQUE INDEX notifications_incident_key ON notifications (incident_id, integration_id, what, entry)
      WHERE incident_id IS NOT NULL;
    COMMENT ON INDEX notifications_incident_key IS 'sends each plan entry once per integration; lists the notifications of an incident';
    CREATE UNIQUE INDEX notifications_person_key ON notifications (incident_id, method_id, what, entry)
      WHERE method_id IS NOT NULL;
    COMMENT ON INDEX notifications_person_key IS 'sends each entry once per contact method';
    CREATE INDEX notifications_method_idx ON notifications (method_id, state) WHERE method_id IS NOT NULL;
    COMMENT ON INDEX notifications_method_idx IS 'finds the pending notifications of a contact method; supports its deletion';
    CREATE INDEX notifications_user_idx ON notifications (user_id, created_at DESC) WHERE user_id IS NOT NULL;
    COMMENT ON INDEX notifications_user_idx IS 'counts the notifications of a person; supports account deletion';
    CREATE INDEX notifications_leader_idx ON notifications (leader_id) WHERE leader_id IS NOT NULL;
    COMMENT ON INDEX notifications_leader_idx IS 'finds the notifications that one message includes; supports its deletion';
    CREATE INDEX notifications_integration_idx ON notifications (integration_id, created_at DESC);
    COMMENT ON INDEX notifications_integration_idx IS 'lists the notifications of an integration, newest first; supports its deletion';
    CREATE INDEX notifications_link_idx ON notifications (link_digest) WHERE link_digest IS NOT NULL;
    COMMENT ON INDEX notifications_link_idx IS 'finds the notification of an acknowledge link';
    CREATE INDEX notifications_pending_idx ON notifications (check_id, integration_id, created_at)
      WHERE state = 'pending';
    COMMENT ON INDEX notifications_pending_idx IS 'keeps notifications in order: finds older pending ones of the same check and integration';

    CREATE TABLE notification_attempts (
      notification_id uuid NOT NULL CONSTRAINT notification_attempts_notification_fkey REFERENCES notifications ON DELETE CASCADE,
      n integer NOT NULL,
      started_at timestamptz NOT NULL,
      duration_ms integer NOT NULL,
      outcome text NOT NULL,
      status_code integer,
      error text NOT NULL DEFAULT '',
      CONSTRAINT notification_attempts_outcome_check CHECK (outcome IN ('delivered', 'temporary', 'permanent')),
      CONSTRAINT notification_attempts_pkey PRIMARY KEY (notification_id, n)
    );

    CREATE TABLE pending_notifications (
      id uuid CONSTRAINT pending_notifications_pkey PRIMARY KEY,
      n bigint GENERATED ALWAYS AS IDENTITY,
      integration_id bigint NOT NULL CONSTRAINT pending_notifications_integration_fkey REFERENCES integrations ON DELETE CASCADE,
      incident_id uuid NOT NULL CONSTRAINT pending_notifications_incident_fkey REFERENCES incidents ON DELETE CASCADE,
      what text NOT NULL,
      entry integer NOT NULL,
      detail jsonb,
      is_made boolean NOT NULL DEFAULT false
    );
    COMMENT ON TABLE pending_notifications IS 'notifications sent individually beside a bundle, throttled per integration; deleted once finished';
    COMMENT ON COLUMN pending_notifications.id IS 'id of the notification to create';
    COMMENT ON COLUMN pending_notifications.is_made IS 'true once the notification exists';
    CREATE UNIQUE INDEX pending_notifications_incident_key ON pending_notifications (incident_id, integration_id, what, entry);
    COMMENT ON INDEX pending_notifications_incident_key IS 'queues each plan entry once per integration; finds the pending notifications of an incident';
    CREATE INDEX pending_notifications_integration_idx ON pending_notifications (integration_id, n);
    COMMENT ON INDEX pending_notifications_integration_idx IS 'finds the next notifications of an integration; supports its deletion';

    CREATE TABLE monthly_sends (
      project_id bigint,
      meter text NOT NULL,
      month timestamptz NOT NULL,
      notification_id uuid NOT NULL,
      organisation_id bigint CONSTRAINT monthly_sends_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      CONSTRAINT monthly_sends_meter_check CHECK (meter IN ('sms', 'call')),
      CONSTRAINT monthly_sends_pkey PRIMARY KEY (notification_id, meter, month)
    );
    COMMENT ON TABLE monthly_sends IS 'messages counted against the monthly limit of an organisation; rows of past months are deleted';
    CREATE INDEX monthly_sends_account_idx ON monthly_sends (organisation_id, meter, month);
    COMMENT ON INDEX monthly_sends_account_idx IS 'counts the messages of an organisation in a month; supports its deletion';

    CREATE TABLE contact_methods (
      id uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT contact_methods_pkey PRIMARY KEY,
      n bigint GENERATED ALWAYS AS IDENTITY,
      user_id bigint NOT NULL CONSTRAINT contact_methods_user_fkey REFERENCES users ON DELETE CASCADE,
      kind text NOT NULL,
      name text NOT NULL DEFAULT '',
      sealed_config text,
      uses_via boolean NOT NULL DEFAULT false,
      via_id bigint CONSTRAINT contact_methods_via_fkey REFERENCES integrations ON DELETE SET NULL,
      recoveries boolean NOT NULL,
      verified_at timestamptz,
      disabled_at timestamptz,
      last_error text NOT NULL DEFAULT '',
      last_sent_at timestamptz,
      notified_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT contact_methods_kind_check CHECK (kind IN ('email', 'sms', 'call', 'whatsapp', 'signal', 'telegram', 'ntfy', 'po', 'pushbullet', 'gotify')),
      CONSTRAINT contact_methods_account_check CHECK (sealed_config IS NOT NULL OR kind = 'email')
    );
    COMMENT ON TABLE contact_methods IS 'addresses at which a person is notified';
    COMMENT ON COLUMN contact_methods.sealed_config IS 'options of the kind as JSON, encrypted under SECRET_KEY; NULL for the address of the account';
    COMMENT ON COLUMN contact_methods.notified_at IS 'start of the last message about incidents; further ones are collected after it';
    COMMENT ON COLUMN contact_methods.via_id IS 'integration that provides server, sender and token; NULL if uses_via is true and it was deleted';
    COMMENT ON COLUMN contact_methods.verified_at IS 'not used for the address of the account: users.email_verified applies';
    ALTER TABLE notifications ADD CONSTRAINT notifications_method_fkey FOREIGN KEY (method_id) REFERENCES contact_methods(id) ON DELETE SET NULL;
    CREATE UNIQUE INDEX contact_methods_account_key ON contact_methods (user_id) WHERE sealed_config IS NULL;
    COMMENT ON INDEX contact_methods_account_key IS 'allows one row for the address of the account';
    CREATE INDEX contact_methods_user_idx ON contact_methods (user_id, n);
    COMMENT ON INDEX contact_methods_user_idx IS 'lists the contact methods of a person; supports account deletion';
    CREATE INDEX contact_methods_via_idx ON contact_methods (via_id) WHERE via_id IS NOT NULL;
    COMMENT ON INDEX contact_methods_via_idx IS 'supports the deletion of an integration';

    CREATE TABLE contact_codes (
      id uuid CONSTRAINT contact_codes_pkey PRIMARY KEY,
      user_id bigint NOT NULL CONSTRAINT contact_codes_user_fkey REFERENCES users ON DELETE CASCADE,
      method_id uuid CONSTRAINT contact_codes_method_fkey REFERENCES contact_methods ON DELETE SET NULL,
      address_digest bytea NOT NULL,
      code_digest bytea NOT NULL,
      tries integer NOT NULL DEFAULT 0,
      sent_at timestamptz,
      used_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON COLUMN contact_codes.method_id IS 'NULL after its deletion, because the row still counts against the limits';
    COMMENT ON COLUMN contact_codes.used_at IS 'also set when a newer code or a changed address replaces the code';
    CREATE INDEX contact_codes_user_idx ON contact_codes (user_id, created_at);
    COMMENT ON INDEX contact_codes_user_idx IS 'counts the codes of a person and of an organisation; supports account deletion';
    CREATE INDEX contact_codes_address_idx ON contact_codes (address_digest, created_at);
    COMMENT ON INDEX contact_codes_address_idx IS 'counts the codes to an address';
    CREATE INDEX contact_codes_method_idx ON contact_codes (method_id, created_at DESC) WHERE method_id IS NOT NULL;
    COMMENT ON INDEX contact_codes_method_idx IS 'finds the newest code of a contact method; supports its deletion';
    CREATE INDEX contact_codes_created_idx ON contact_codes (created_at);
    COMMENT ON INDEX contact_codes_created_idx IS 'retention: deletes codes older than all limits';

    CREATE TABLE contact_rules (
      user_id bigint NOT NULL CONSTRAINT contact_rules_user_fkey REFERENCES users ON DELETE CASCADE,
      list text NOT NULL,
      after_seconds integer NOT NULL,
      method_id uuid NOT NULL CONSTRAINT contact_rules_method_fkey REFERENCES contact_methods ON DELETE CASCADE,
      CONSTRAINT contact_rules_list_check CHECK (list IN ('critical', 'other')),
      CONSTRAINT contact_rules_pkey PRIMARY KEY (user_id, list, after_seconds, method_id)
    );
    COMMENT ON TABLE contact_rules IS 'when a person is notified by which contact method, per severity';
    CREATE INDEX contact_rules_method_idx ON contact_rules (method_id);
    COMMENT ON INDEX contact_rules_method_idx IS 'supports the deletion of a contact method';

    CREATE TABLE on_call_settings (
      user_id bigint CONSTRAINT on_call_settings_pkey PRIMARY KEY CONSTRAINT on_call_settings_user_fkey REFERENCES users ON DELETE CASCADE,
      quiet jsonb NOT NULL DEFAULT '[]',
      notices jsonb NOT NULL
    );
    COMMENT ON COLUMN on_call_settings.quiet IS 'recurring times that delay notifications of severity warning and info';
    COMMENT ON COLUMN on_call_settings.notices IS 'shift notices: seconds before a shift, at its start, at its end';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'ALTER TABLE notifications DROP CONSTRAINT notifications_method_fkey; DROP TABLE on_call_settings, contact_rules, contact_codes, contact_methods, monthly_sends, pending_notifications, notification_attempts, notifications',
  )
}
