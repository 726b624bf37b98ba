import type { Knex } from 'knex'

/** So much time passes for all that the database holds. */
export async function letPass(db: Knex, seconds: number): Promise<void> {
  const columns: Record<string, string[]> = {
    beats: ['from_at', 'until_at', 'settled_until'],
    checks: ['last_ping', 'last_start', 'alert_after', 'excused_at'],
    check_marks: ['look_at'],
    pings: ['at'],
    flips: ['at'],
    gaps: ['from_at', 'until_at'],
    refusals: ['minute', 'last_at'],
    unknowns: ['gap_from', 'gap_until', 'from_at', 'until_at', 'expected_at', 'next_at', 'excused_at'],
    incidents: ['down_at', 'alert_at', 'looked_at', 'next_at'],
  }
  for (const [table, names] of Object.entries(columns)) {
    const moved = names.map((name) => `${name} = ${name} - make_interval(secs => ${seconds})`)
    await db.raw(`UPDATE ${table} SET ${moved.join(', ')}`)
  }
}
