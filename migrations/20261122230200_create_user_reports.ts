import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE user_reports (
      user_id bigint CONSTRAINT user_reports_pkey PRIMARY KEY
        CONSTRAINT user_reports_user_fkey REFERENCES users ON DELETE CASCADE,
      report text NOT NULL DEFAULT 'off'
        CONSTRAINT user_reports_report_check CHECK (report IN ('off', 'daily', 'weekly', 'monthly')),
      reminder text NOT NULL DEFAULT 'off'
        CONSTRAINT user_reports_reminder_check CHECK (reminder IN ('off', 'hourly', 'daily')),
      tz text NOT NULL DEFAULT 'UTC',
      report_at timestamptz,
      reminder_at timestamptz
    );
    COMMENT ON TABLE user_reports IS 'which mails about all projects of theirs people asked for; nobody gets one unasked';
    COMMENT ON COLUMN user_reports.reminder_at IS 'null while nothing is down';
    CREATE INDEX user_reports_report_idx ON user_reports (report_at) WHERE report_at IS NOT NULL;
    COMMENT ON INDEX user_reports_report_idx IS 'the sweep: reports that are due';
    CREATE INDEX user_reports_reminder_idx ON user_reports (reminder_at) WHERE reminder_at IS NOT NULL;
    COMMENT ON INDEX user_reports_reminder_idx IS 'the sweep: reminders that are due';

    CREATE TABLE mails (
      id uuid CONSTRAINT mails_pkey PRIMARY KEY,
      user_id bigint NOT NULL CONSTRAINT mails_user_fkey REFERENCES users ON DELETE CASCADE,
      kind text NOT NULL CONSTRAINT mails_kind_check CHECK (kind IN ('report', 'reminder', 'limit')),
      period text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT mails_period_key UNIQUE (user_id, kind, period)
    );
    COMMENT ON TABLE mails IS 'a person gets one mail of each kind and period; its text and attempts are in outgoing_mails';
    CREATE INDEX mails_created_idx ON mails (created_at);
    COMMENT ON INDEX mails_created_idx IS 'retention';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE mails; DROP TABLE user_reports')
}
