import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE ping_bodies (
      id uuid CONSTRAINT ping_bodies_pkey PRIMARY KEY,
      body bytea NOT NULL,
      text bytea,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON TABLE ping_bodies IS 'large mails, stored until the evaluator moves them into pings; one row per recipient';
    COMMENT ON COLUMN ping_bodies.text IS 'JSON searched for keywords; NULL if the queue message carries it';
    ALTER TABLE ONLY ping_bodies ALTER COLUMN body SET STORAGE EXTERNAL;
    CREATE INDEX ping_bodies_created_idx ON ping_bodies (created_at);
    COMMENT ON INDEX ping_bodies_created_idx IS 'retention: deletes stored mails whose ping never arrived';

    CREATE TABLE pings (
      check_id bigint NOT NULL,
      slot integer NOT NULL,
      n bigint NOT NULL,
      type text NOT NULL,
      at timestamptz NOT NULL,
      scheme text NOT NULL,
      remote_addr text,
      method text NOT NULL,
      ua text NOT NULL,
      rid uuid,
      exit_status smallint,
      body bytea,
      ignored text,
      subject text,
      CONSTRAINT pings_pkey PRIMARY KEY (check_id, slot)
    ) WITH (fillfactor = 80);
    COMMENT ON COLUMN pings.slot IS 'n modulo the log limit; a ping overwrites the oldest one (docs/adr/0002)';
    COMMENT ON COLUMN pings.subject IS 'decoded subject of a mail whose body is stored, at most 200 characters; NULL for HTTP';
    COMMENT ON COLUMN pings.ignored IS 'reason why a ping changed nothing or its body was not searched: source if its source is not counted, not-json, cut or no-member if the filter found no text in its body, another reason with type ign, else NULL';

    CREATE TABLE kept_failures (
      check_id bigint NOT NULL CONSTRAINT kept_failures_check_fkey REFERENCES checks ON DELETE CASCADE,
      slot integer NOT NULL,
      seq bigint NOT NULL,
      n bigint NOT NULL,
      type text NOT NULL DEFAULT 'fail',
      at timestamptz NOT NULL,
      scheme text NOT NULL,
      remote_addr text,
      method text NOT NULL,
      ua text NOT NULL,
      rid uuid,
      exit_status smallint,
      body bytea,
      ignored text,
      subject text,
      CONSTRAINT kept_failures_pkey PRIMARY KEY (check_id, slot)
    ) WITH (fillfactor = 80);
    COMMENT ON TABLE kept_failures IS 'copies of the newest failures of a check, which stay when pings has dropped them';
    COMMENT ON COLUMN kept_failures.seq IS 'number of the failure; slot is seq modulo KEPT_FAILURES';

    CREATE TABLE limited_pings (
      check_id bigint CONSTRAINT limited_pings_pkey PRIMARY KEY CONSTRAINT limited_pings_check_fkey REFERENCES checks ON DELETE CASCADE,
      count bigint NOT NULL,
      since timestamptz NOT NULL DEFAULT now(),
      last_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON TABLE limited_pings IS 'pings omitted from the log of a check by rate limiting; the count restarts after a day without any';

    CREATE TABLE refused_pings (
      check_id bigint NOT NULL CONSTRAINT refused_pings_check_fkey REFERENCES checks ON DELETE CASCADE,
      reason text NOT NULL,
      minute timestamptz NOT NULL,
      count bigint NOT NULL,
      last_at timestamptz NOT NULL,
      CONSTRAINT refused_pings_pkey PRIMARY KEY (check_id, reason, minute)
    );
    COMMENT ON TABLE refused_pings IS 'refused pings of known checks, counted per reason and minute';
    CREATE INDEX refused_pings_last_idx ON refused_pings (last_at);
    COMMENT ON INDEX refused_pings_last_idx IS 'sweep: finds the newest refused ping; retention: deletes old rows';

    CREATE TABLE flips (
      id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT flips_pkey PRIMARY KEY,
      check_id bigint NOT NULL,
      at timestamptz NOT NULL,
      from_status text NOT NULL,
      to_status text NOT NULL,
      reason text NOT NULL DEFAULT '',
      processed_at timestamptz
    );
    CREATE INDEX flips_at_idx ON flips (at);
    COMMENT ON INDEX flips_at_idx IS 'retention: deletes flips older than the retention window';
    CREATE INDEX flips_check_idx ON flips (check_id, id DESC);
    COMMENT ON INDEX flips_check_idx IS 'lists the flips of a check, newest first';
    CREATE INDEX flips_unprocessed_idx ON flips (id) WHERE processed_at IS NULL;
    COMMENT ON INDEX flips_unprocessed_idx IS 'sweep: finds unprocessed flips and requeues them';

    CREATE FUNCTION checks_delete_flips() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM flips WHERE check_id = OLD.id;
      RETURN OLD;
    END $$;
    CREATE TRIGGER checks_delete_flips BEFORE DELETE ON checks FOR EACH ROW EXECUTE FUNCTION checks_delete_flips();
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'DROP FUNCTION checks_delete_flips CASCADE; DROP TABLE flips, refused_pings, limited_pings, kept_failures, pings, ping_bodies',
  )
}
