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
    COMMENT ON TABLE user_reports IS 'which mails about all projects of theirs people requested for; nobody gets one unasked';
    COMMENT ON COLUMN user_reports.reminder_at IS 'null while nothing is down';
    CREATE INDEX user_reports_report_idx ON user_reports (report_at) WHERE report_at IS NOT NULL;
    COMMENT ON INDEX user_reports_report_idx IS 'the sweep: reports that are due';
    CREATE INDEX user_reports_reminder_idx ON user_reports (reminder_at) WHERE reminder_at IS NOT NULL;
    COMMENT ON INDEX user_reports_reminder_idx IS 'the sweep: reminders that are due';

    CREATE TABLE report_mails (
      id uuid CONSTRAINT report_mails_pkey PRIMARY KEY,
      user_id bigint NOT NULL CONSTRAINT report_mails_user_fkey REFERENCES users ON DELETE CASCADE,
      kind text NOT NULL CONSTRAINT report_mails_kind_check CHECK (kind IN ('report', 'reminder', 'limit')),
      period text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT report_mails_period_key UNIQUE (user_id, kind, period)
    );
    COMMENT ON TABLE report_mails IS 'a person gets one mail of each kind and period; its text and attempts are in outgoing_mails';
    CREATE INDEX report_mails_created_idx ON report_mails (created_at);
    COMMENT ON INDEX report_mails_created_idx IS 'retention';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE report_mails; DROP TABLE user_reports')
}
