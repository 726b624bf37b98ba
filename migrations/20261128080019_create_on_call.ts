import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE schedules (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT schedules_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT schedules_uuid_key UNIQUE,
      organisation_id bigint NOT NULL CONSTRAINT schedules_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      project_id bigint NOT NULL CONSTRAINT schedules_project_fkey REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      document jsonb NOT NULL,
      version bigint NOT NULL DEFAULT 1,
      override_count integer NOT NULL DEFAULT 0,
      next_change_at timestamptz,
      members_digest text NOT NULL DEFAULT '',
      noticed_until timestamptz NOT NULL DEFAULT now(),
      next_notice_at timestamptz,
      announced_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      changed_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT schedules_name_key UNIQUE (project_id, name)
    );
    COMMENT ON TABLE schedules IS 'on-call schedules; the schedule of a check is a column of checks';
    COMMENT ON COLUMN schedules.document IS 'API members except the name; people by e-mail address';
    COMMENT ON COLUMN schedules.override_count IS 'number of the newest override, including deleted ones';
    COMMENT ON COLUMN schedules.next_change_at IS 'next instant at which another person is on call; shifts are recorded up to it';
    COMMENT ON COLUMN schedules.members_digest IS 'digest of the possible people at the last recording; a difference makes the schedule due';
    COMMENT ON COLUMN schedules.noticed_until IS 'shift notices that fell due before are created';
    COMMENT ON COLUMN schedules.next_notice_at IS 'when the next shift notice may be due; NULL: now';
    COMMENT ON COLUMN schedules.announced_at IS 'last change of the person on call that was sent to the integrations';
    CREATE INDEX schedules_organisation_idx ON schedules (organisation_id);
    COMMENT ON INDEX schedules_organisation_idx IS 'lists the shared schedules of an organisation; supports its deletion';
    CREATE INDEX schedules_due_idx ON schedules (next_change_at);
    COMMENT ON INDEX schedules_due_idx IS 'sweeper: finds schedules with a change that is due';
    CREATE INDEX schedules_notice_idx ON schedules (next_notice_at);
    COMMENT ON INDEX schedules_notice_idx IS 'sweep: finds schedules with a notice that is due';

    CREATE TABLE swaps (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT swaps_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT swaps_uuid_key UNIQUE,
      schedule_id bigint NOT NULL CONSTRAINT swaps_schedule_fkey REFERENCES schedules ON DELETE CASCADE,
      requester text NOT NULL,
      offered_to text,
      taker text,
      starts_at timestamptz NOT NULL,
      ends_at timestamptz NOT NULL,
      back_starts_at timestamptz,
      back_ends_at timestamptz,
      note text NOT NULL DEFAULT '',
      state text NOT NULL DEFAULT 'open',
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT swaps_state_check CHECK (state IN ('open', 'taken', 'cancelled')),
      CONSTRAINT swaps_taker_check CHECK ((state = 'taken') = (taker IS NOT NULL)),
      CONSTRAINT swaps_back_check CHECK ((back_starts_at IS NULL) = (back_ends_at IS NULL))
    );
    COMMENT ON COLUMN swaps.offered_to IS 'the only person who may take it; NULL: every member';
    CREATE INDEX swaps_schedule_idx ON swaps (schedule_id, id DESC);
    COMMENT ON INDEX swaps_schedule_idx IS 'lists the swaps of a schedule, newest first; supports its deletion';

    CREATE TABLE overrides (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT overrides_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT overrides_uuid_key UNIQUE,
      schedule_id bigint NOT NULL CONSTRAINT overrides_schedule_fkey REFERENCES schedules ON DELETE CASCADE,
      swap_id bigint CONSTRAINT overrides_swap_fkey REFERENCES swaps ON DELETE CASCADE,
      number integer NOT NULL,
      person text,
      replaces text,
      starts_at timestamptz NOT NULL,
      ends_at timestamptz NOT NULL,
      note text NOT NULL DEFAULT '',
      created_by text NOT NULL DEFAULT '',
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT overrides_number_key UNIQUE (schedule_id, number),
      CONSTRAINT overrides_time_check CHECK (starts_at < ends_at)
    );
    COMMENT ON COLUMN overrides.person IS 'e-mail address; NULL: no person is on call';
    COMMENT ON COLUMN overrides.replaces IS 'limits the override to the time of this person; NULL: no limit';
    CREATE INDEX overrides_schedule_idx ON overrides (schedule_id, ends_at);
    COMMENT ON INDEX overrides_schedule_idx IS 'lists the overrides of a schedule that have not ended; supports its deletion';
    CREATE INDEX overrides_swap_idx ON overrides (swap_id) WHERE swap_id IS NOT NULL;
    COMMENT ON INDEX overrides_swap_idx IS 'finds the overrides of a swap';

    CREATE TABLE shifts (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT shifts_pkey PRIMARY KEY,
      schedule_id bigint NOT NULL CONSTRAINT shifts_schedule_fkey REFERENCES schedules ON DELETE CASCADE,
      person text NOT NULL,
      source text NOT NULL,
      from_at timestamptz NOT NULL,
      until_at timestamptz,
      CONSTRAINT shifts_time_check CHECK (from_at < until_at)
    );
    COMMENT ON TABLE shifts IS 'recorded shifts: the past is read from them and is never recomputed';
    COMMENT ON COLUMN shifts.source IS 'layer, override or fallback at the beginning of the shift';
    COMMENT ON COLUMN shifts.until_at IS 'NULL: the person is on call now';
    CREATE UNIQUE INDEX shifts_open_key ON shifts (schedule_id) WHERE until_at IS NULL;
    COMMENT ON INDEX shifts_open_key IS 'allows one person on call per schedule';
    CREATE INDEX shifts_schedule_idx ON shifts (schedule_id, from_at DESC);
    COMMENT ON INDEX shifts_schedule_idx IS 'lists the shifts of a schedule; supports its deletion';
    CREATE INDEX shifts_until_idx ON shifts (until_at) WHERE until_at IS NOT NULL;
    COMMENT ON INDEX shifts_until_idx IS 'retention: deletes old rows';

    CREATE TABLE personal_notices (
      id uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT personal_notices_pkey PRIMARY KEY,
      user_id bigint NOT NULL CONSTRAINT personal_notices_user_fkey REFERENCES users ON DELETE CASCADE,
      schedule_id bigint NOT NULL CONSTRAINT personal_notices_schedule_fkey REFERENCES schedules ON DELETE CASCADE,
      key text NOT NULL,
      title text NOT NULL,
      text text NOT NULL,
      uses_rules boolean NOT NULL,
      ignores_quiet boolean NOT NULL DEFAULT false,
      method_id uuid CONSTRAINT personal_notices_method_fkey REFERENCES contact_methods ON DELETE SET NULL,
      state text NOT NULL DEFAULT 'new',
      due_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      attempts integer NOT NULL DEFAULT 0,
      queued_until timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT personal_notices_key UNIQUE (schedule_id, user_id, key),
      CONSTRAINT personal_notices_state_check CHECK (state IN ('new', 'pending', 'done'))
    );
    COMMENT ON TABLE personal_notices IS 'messages about shifts and swaps to a person';
    COMMENT ON COLUMN personal_notices.key IS 'event of the notice; a second notice about it is not created';
    COMMENT ON COLUMN personal_notices.uses_rules IS 'true: all entries of the rules for other severities; false: the first usable method';
    COMMENT ON COLUMN personal_notices.state IS 'new: without a contact method; done: sent, expired or not deliverable';
    CREATE INDEX personal_notices_created_idx ON personal_notices (created_at);
    COMMENT ON INDEX personal_notices_created_idx IS 'retention: deletes old rows';
    CREATE INDEX personal_notices_due_idx ON personal_notices (due_at) WHERE state <> 'done';
    COMMENT ON INDEX personal_notices_due_idx IS 'sweep: finds notices that are due';
    CREATE INDEX personal_notices_method_idx ON personal_notices (method_id) WHERE method_id IS NOT NULL;
    COMMENT ON INDEX personal_notices_method_idx IS 'supports the deletion of a contact method';
    CREATE INDEX personal_notices_user_idx ON personal_notices (user_id);
    COMMENT ON INDEX personal_notices_user_idx IS 'supports account deletion';

    CREATE TABLE shift_changes (
      schedule_id bigint NOT NULL CONSTRAINT shift_changes_schedule_fkey REFERENCES schedules ON DELETE CASCADE,
      user_id bigint NOT NULL CONSTRAINT shift_changes_user_fkey REFERENCES users ON DELETE CASCADE,
      before jsonb NOT NULL,
      until_at timestamptz NOT NULL,
      due_at timestamptz NOT NULL,
      CONSTRAINT shift_changes_pkey PRIMARY KEY (schedule_id, user_id)
    );
    COMMENT ON TABLE shift_changes IS 'people whose shifts were edited by others; one mail follows the last edit';
    COMMENT ON COLUMN shift_changes.before IS 'shifts before the first edit, up to until_at, in microseconds since 1970';
    CREATE INDEX shift_changes_due_idx ON shift_changes (due_at);
    COMMENT ON INDEX shift_changes_due_idx IS 'sweep: finds mails that are due';
    CREATE INDEX shift_changes_user_idx ON shift_changes (user_id);
    COMMENT ON INDEX shift_changes_user_idx IS 'supports account deletion';

    CREATE TABLE calendar_feeds (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT calendar_feeds_pkey PRIMARY KEY,
      uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT calendar_feeds_uuid_key UNIQUE,
      digest bytea NOT NULL CONSTRAINT calendar_feeds_digest_key UNIQUE,
      schedule_id bigint CONSTRAINT calendar_feeds_schedule_fkey REFERENCES schedules ON DELETE CASCADE,
      user_id bigint CONSTRAINT calendar_feeds_user_fkey REFERENCES users ON DELETE CASCADE,
      name text NOT NULL DEFAULT '',
      created_by text NOT NULL DEFAULT '',
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT calendar_feeds_user_key UNIQUE (user_id),
      CONSTRAINT calendar_feeds_owner_check CHECK ((schedule_id IS NULL) <> (user_id IS NULL))
    );
    COMMENT ON COLUMN calendar_feeds.digest IS 'digest of the token in the address, which is shown once';
    CREATE INDEX calendar_feeds_schedule_idx ON calendar_feeds (schedule_id) WHERE schedule_id IS NOT NULL;
    COMMENT ON INDEX calendar_feeds_schedule_idx IS 'lists the feeds of a schedule; supports its deletion';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE calendar_feeds, shift_changes, personal_notices, shifts, overrides, swaps, schedules')
}
