import type { Knex } from 'knex'

/** Moves all times in the database into the past by this duration. */
export async function letPass(db: Knex, seconds: number): Promise<void> {
  const columns: Record<string, string[]> = {
    listener_heartbeats: ['from_at', 'until_at', 'settled_until'],
    checks: ['last_ping', 'last_start', 'alert_after', 'deadline_extended_at'],
    check_deadlines: ['next_check_at'],
    pings: ['at'],
    flips: ['at'],
    coverage_gaps: ['from_at', 'until_at'],
    refused_pings: ['minute', 'last_at'],
    unknown_periods: ['gap_from', 'gap_until', 'from_at', 'until_at', 'expected_at', 'next_at', 'deadline_extended_at'],
    incidents: ['down_at', 'alert_at', 'evaluated_at', 'next_at'],
  }
  for (const [table, names] of Object.entries(columns)) {
    const moved = names.map((name) => `${name} = ${name} - make_interval(secs => ${seconds})`)
    await db.raw(`UPDATE ${table} SET ${moved.join(', ')}`)
  }
}

/** Period and grace of a minute each, plus the time of a sweep. */
const PERIOD_AND_GRACE = 125

/** Lets a period and grace pass for the gap and for some checks. Live checks have pinged meanwhile. */
async function letPassForThese(db: Knex, ids: readonly number[]): Promise<void> {
  const by = `make_interval(secs => ${PERIOD_AND_GRACE})`
  const isLive = `span IS NOT NULL AND until_at > now() - interval '1 minute'`
  await db.transaction(async (tx) => {
    await tx.raw(`UPDATE coverage_gaps SET from_at = from_at - ${by}, until_at = until_at - ${by}`)
    await tx.raw(`UPDATE unknown_periods SET gap_from = gap_from - ${by}, gap_until = gap_until - ${by}`)
    await tx.raw(
      `UPDATE listener_heartbeats SET from_at = from_at - ${by}, until_at = CASE WHEN ${isLive} THEN until_at ELSE until_at - ${by} END
       WHERE span IS NOT NULL`,
    )
    await tx.raw(
      `UPDATE checks SET deadline_extended_at = deadline_extended_at - ${by}, alert_after = alert_after - ${by}, last_ping = last_ping - ${by}
       WHERE id = ANY(?)`,
      [[...ids]],
    )
    await tx.raw(`UPDATE check_deadlines SET next_check_at = next_check_at - ${by} WHERE check_id = ANY(?)`, [[...ids]])
  })
}

/**
 * Lets a period and grace of a minute each pass for dead checks, until all of them wait. A sweep under way may still
 * have evaluated them by the earlier gap, and a service that stalls for seconds opens another gap; both extend the
 * deadlines once more.
 */
export async function letPassWhileWaiting(db: Knex, ids: readonly number[]): Promise<void> {
  const waiting = await db('checks')
    .whereIn('id', [...ids])
    .whereNot({ status: 'down' })
    .where('alert_after', '>', db.fn.now())
  if (waiting.length === ids.length) await letPassForThese(db, ids)
}
