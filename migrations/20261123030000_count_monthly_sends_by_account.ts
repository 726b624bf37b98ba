import type { Knex } from 'knex'

/**
 * A monthly limit is one of an account, not of each of its projects. The project of a place is written by the release
 * before alone; no foreign key, so that what was sent stays counted when the project is deleted.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE monthly_sends
      ADD COLUMN organisation_id bigint
        CONSTRAINT monthly_sends_organisation_fkey REFERENCES organisations ON DELETE CASCADE,
      DROP CONSTRAINT monthly_sends_pkey,
      DROP CONSTRAINT monthly_sends_project_fkey,
      ALTER COLUMN project_id DROP NOT NULL;
    UPDATE monthly_sends SET organisation_id = p.organisation_id FROM projects p WHERE p.id = monthly_sends.project_id;
    ALTER TABLE monthly_sends ADD CONSTRAINT monthly_sends_pkey PRIMARY KEY (notification_id, meter, month);
    CREATE INDEX monthly_sends_account_idx ON monthly_sends (organisation_id, meter, month);
    COMMENT ON INDEX monthly_sends_account_idx IS 'the places of an account''s month; its deletion';
    COMMENT ON TABLE monthly_sends IS
      'places of an account''s month that messages have taken; those of the month before go with the first of the next'
  `)
}

/** Those of deleted projects and of several projects at once cannot be told apart any more. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DELETE FROM monthly_sends WHERE project_id IS NULL;
    DROP INDEX monthly_sends_account_idx;
    ALTER TABLE monthly_sends
      DROP CONSTRAINT monthly_sends_pkey,
      DROP COLUMN organisation_id,
      ALTER COLUMN project_id SET NOT NULL;
    DELETE FROM monthly_sends s WHERE NOT EXISTS (SELECT FROM projects p WHERE p.id = s.project_id);
    ALTER TABLE monthly_sends
      ADD CONSTRAINT monthly_sends_project_fkey FOREIGN KEY (project_id) REFERENCES projects ON DELETE CASCADE,
      ADD CONSTRAINT monthly_sends_pkey PRIMARY KEY (project_id, meter, month, notification_id)
  `)
}
