import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE projects (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT projects_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT projects_uuid_key UNIQUE,
      organisation_id bigint NOT NULL CONSTRAINT projects_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      name text NOT NULL,
      badge_key uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT projects_badge_key_key UNIQUE,
      check_limit integer,
      created_at timestamptz NOT NULL DEFAULT now(),
      alerting_version bigint NOT NULL DEFAULT 0,
      notify_unknown boolean NOT NULL DEFAULT true,
      provisioning jsonb NOT NULL DEFAULT '{}',
      statements_since date,
      CONSTRAINT projects_check_limit_check CHECK (check_limit >= 0)
    );
    COMMENT ON COLUMN projects.alerting_version IS 'incremented when policies, windows or rules change; alerters then invalidate their caches';
    COMMENT ON COLUMN projects.notify_unknown IS 'true: integrations are notified of unknown periods after a coverage gap';
    COMMENT ON COLUMN projects.provisioning IS 'settings of checks created by their first ping, in API format';
    COMMENT ON COLUMN projects.statements_since IS 'first UTC day stated in the transparency log; NULL if the project has no statements';
    CREATE INDEX projects_organisation_idx ON projects (organisation_id);
    COMMENT ON INDEX projects_organisation_idx IS 'lists the projects of an organisation; counts its checks against the limit';

    CREATE TABLE project_keys (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT project_keys_pkey PRIMARY KEY,
      project_id bigint NOT NULL CONSTRAINT project_keys_project_fkey REFERENCES projects ON DELETE CASCADE,
      kind text NOT NULL,
      prefix text NOT NULL,
      digest bytea NOT NULL CONSTRAINT project_keys_digest_key UNIQUE,
      folded_digest bytea,
      sealed text,
      created_at timestamptz NOT NULL DEFAULT now(),
      last_used_at timestamptz,
      revoked_at timestamptz,
      name text NOT NULL DEFAULT '',
      created_by text NOT NULL DEFAULT '',
      CONSTRAINT project_keys_kind_check CHECK (kind IN ('rw', 'ro', 'ping'))
    );
    COMMENT ON COLUMN project_keys.digest IS 'HMAC-SHA-256 of the key under SECRET_KEY; the key is shown only once';
    COMMENT ON COLUMN project_keys.folded_digest IS 'ping keys only: digest of the key in lower case, because mail programs change the case of addresses';
    COMMENT ON COLUMN project_keys.sealed IS 'ping keys only: the encrypted key, because pages show it in ping URLs';
    COMMENT ON COLUMN project_keys.created_by IS 'creator as named in the audit log; empty for older keys';
    CREATE INDEX project_keys_project_idx ON project_keys (project_id);
    COMMENT ON INDEX project_keys_project_idx IS 'lists the keys in the settings of a project';
    CREATE INDEX project_keys_folded_digest_idx ON project_keys (folded_digest) WHERE folded_digest IS NOT NULL;
    COMMENT ON INDEX project_keys_folded_digest_idx IS 'finds a ping key by the address of an e-mail ping in another case';

    CREATE TABLE quota_notices (
      project_id bigint CONSTRAINT quota_notices_pkey PRIMARY KEY CONSTRAINT quota_notices_project_fkey REFERENCES projects ON DELETE CASCADE,
      check_limit integer NOT NULL,
      reached_at timestamptz NOT NULL DEFAULT now(),
      notified_at timestamptz
    );
    COMMENT ON TABLE quota_notices IS 'projects that reached their check limit; notified_at: when owners were mailed, at most once in 30 days';

    CREATE TABLE saved_filters (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT saved_filters_pkey PRIMARY KEY,
      project_id bigint NOT NULL CONSTRAINT saved_filters_project_fkey REFERENCES projects ON DELETE CASCADE,
      user_id bigint NOT NULL CONSTRAINT saved_filters_user_fkey REFERENCES users ON DELETE CASCADE,
      name text NOT NULL,
      query text NOT NULL,
      CONSTRAINT saved_filters_name_key UNIQUE (project_id, user_id, name)
    );
    COMMENT ON COLUMN saved_filters.query IS 'normalised filter and order parameters of the list URL';
    CREATE INDEX saved_filters_user_idx ON saved_filters (user_id);
    COMMENT ON INDEX saved_filters_user_idx IS 'supports the deletion of a user';

    CREATE TABLE verified_recipients (
      project_id bigint NOT NULL CONSTRAINT verified_recipients_project_fkey REFERENCES projects ON DELETE CASCADE,
      digest bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT verified_recipients_pkey PRIMARY KEY (project_id, digest)
    );
    COMMENT ON TABLE verified_recipients IS 'addresses whose owners agreed to receive the alerts of a project';
    COMMENT ON COLUMN verified_recipients.digest IS 'keyed digest of the lower-case address';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE verified_recipients, saved_filters, quota_notices, project_keys, projects')
}
