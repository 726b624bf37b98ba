import type { Knex } from 'knex'

/**
 * The number of ping queues is 1 unless it is set; before it was 4. An installation from before the number was a row, and
 * whose pings went through more than one queue, keeps its number: a process with another takes no part and says so.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    INSERT INTO ping_shards (shards, most, set_by)
    SELECT greatest(4, max(shard) + 1), greatest(4, max(shard) + 1), 'update'
    FROM ping_streams HAVING max(shard) > 0
    ON CONFLICT DO NOTHING
  `)
}

/** What is in use stays in use. */
export async function down(): Promise<void> {}
