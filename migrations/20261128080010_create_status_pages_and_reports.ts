import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE status_pages (
      project_id bigint CONSTRAINT status_pages_pkey PRIMARY KEY CONSTRAINT status_pages_project_fkey REFERENCES projects ON DELETE CASCADE,
      token text NOT NULL CONSTRAINT status_pages_token_key UNIQUE,
      title text NOT NULL,
      tags text NOT NULL DEFAULT '',
      created_at timestamptz NOT NULL DEFAULT now(),
      intro text NOT NULL DEFAULT '',
      is_grouped boolean NOT NULL DEFAULT false,
      shows_progress boolean NOT NULL DEFAULT false,
      logo bytea,
      logo_type text,
      logo_digest text
    );
    COMMENT ON COLUMN status_pages.token IS '128 random bits; the page is public to all who know the URL';
    COMMENT ON COLUMN status_pages.tags IS 'only checks with one of these tags are shown; empty shows all';
    COMMENT ON COLUMN status_pages.is_grouped IS 'true: checks are grouped by their first tag';
    COMMENT ON COLUMN status_pages.shows_progress IS 'true: a down check whose incident is acknowledged is shown as being worked on';
    COMMENT ON COLUMN status_pages.logo_type IS 'media type detected from the first bytes, not the type sent by the browser';
    COMMENT ON COLUMN status_pages.logo_digest IS 'digest of the logo, used in its URL; NULL without a logo';

    CREATE TABLE status_notes (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT status_notes_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT status_notes_uuid_key UNIQUE,
      project_id bigint NOT NULL CONSTRAINT status_notes_project_fkey REFERENCES projects ON DELETE CASCADE,
      title text NOT NULL,
      body text NOT NULL,
      at timestamptz NOT NULL DEFAULT now(),
      ended_at timestamptz
    );
    COMMENT ON TABLE status_notes IS 'notes on the status page of a project';
    COMMENT ON COLUMN status_notes.ended_at IS 'NULL while open';
    CREATE INDEX status_notes_project_idx ON status_notes (project_id, id DESC);
    COMMENT ON INDEX status_notes_project_idx IS 'lists the notes of a status page, newest first; supports the deletion of the project';

    CREATE TABLE uptime_statements (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT uptime_statements_pkey PRIMARY KEY,
      project_id bigint NOT NULL CONSTRAINT uptime_statements_project_fkey REFERENCES projects ON DELETE CASCADE,
      on_date date NOT NULL,
      is_correction boolean NOT NULL,
      statement jsonb NOT NULL,
      made_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON TABLE uptime_statements IS 'daily uptime statements of projects, hashed into the production transparency log';
    CREATE INDEX uptime_statements_date_idx ON uptime_statements (on_date);
    COMMENT ON INDEX uptime_statements_date_idx IS 'retention: deletes old rows';
    CREATE UNIQUE INDEX uptime_statements_day_key ON uptime_statements (project_id, on_date) WHERE NOT is_correction;
    COMMENT ON INDEX uptime_statements_day_key IS 'allows one original statement per project and day; later changes are corrections';
    CREATE INDEX uptime_statements_project_idx ON uptime_statements (project_id, id DESC);
    COMMENT ON INDEX uptime_statements_project_idx IS 'lists the statement chain of a project, newest first; supports its deletion';

    CREATE TABLE uptime_statement_records (
      statement_id bigint NOT NULL CONSTRAINT uptime_statement_records_statement_fkey REFERENCES uptime_statements ON DELETE CASCADE,
      check_id bigint NOT NULL CONSTRAINT uptime_statement_records_check_fkey REFERENCES checks ON DELETE CASCADE,
      record jsonb NOT NULL,
      flips integer NOT NULL,
      CONSTRAINT uptime_statement_records_pkey PRIMARY KEY (check_id, statement_id)
    );
    COMMENT ON COLUMN uptime_statement_records.flips IS 'stored flips of the day at statement time; a higher count triggers a correction';
    CREATE INDEX uptime_statement_records_statement_idx ON uptime_statement_records (statement_id);
    COMMENT ON INDEX uptime_statement_records_statement_idx IS 'supports the deletion of a statement';

    CREATE TABLE user_reports (
      user_id bigint CONSTRAINT user_reports_pkey PRIMARY KEY CONSTRAINT user_reports_user_fkey REFERENCES users ON DELETE CASCADE,
      report text NOT NULL DEFAULT 'off',
      reminder text NOT NULL DEFAULT 'off',
      tz text NOT NULL DEFAULT 'UTC',
      report_at timestamptz,
      reminder_at timestamptz,
      CONSTRAINT user_reports_reminder_check CHECK (reminder IN ('off', 'hourly', 'daily')),
      CONSTRAINT user_reports_report_check CHECK (report IN ('off', 'daily', 'weekly', 'monthly'))
    );
    COMMENT ON TABLE user_reports IS 'report and reminder mails that a user subscribed to; off by default';
    COMMENT ON COLUMN user_reports.reminder_at IS 'NULL while no check is down';
    CREATE INDEX user_reports_reminder_idx ON user_reports (reminder_at) WHERE reminder_at IS NOT NULL;
    COMMENT ON INDEX user_reports_reminder_idx IS 'sweep: finds reminders that are due';
    CREATE INDEX user_reports_report_idx ON user_reports (report_at) WHERE report_at IS NOT NULL;
    COMMENT ON INDEX user_reports_report_idx IS 'sweep: finds reports that are due';

    CREATE TABLE report_mails (
      id uuid CONSTRAINT report_mails_pkey PRIMARY KEY,
      user_id bigint NOT NULL CONSTRAINT report_mails_user_fkey REFERENCES users ON DELETE CASCADE,
      kind text NOT NULL,
      period text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT report_mails_kind_check CHECK (kind IN ('report', 'reminder', 'limit', 'gap')),
      CONSTRAINT report_mails_period_key UNIQUE (user_id, kind, period)
    );
    COMMENT ON TABLE report_mails IS 'one mail per user, kind and period; its text and attempts are in outgoing_mails';
    CREATE INDEX report_mails_created_idx ON report_mails (created_at);
    COMMENT ON INDEX report_mails_created_idx IS 'retention: deletes old rows';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP TABLE report_mails, user_reports, uptime_statement_records, uptime_statements, status_notes, status_pages',
  )
}
