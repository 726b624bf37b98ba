import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { IMPLICIT_PLAN } from '#shared/monitoring/alerting/policy.ts'
import { insertPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import { addWebhook, openReceiver } from './alerts.ts'
import { addChecks, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

const INTEGRATIONS = 2
const WITHIN = 5
/** Milliseconds to wait for a surplus message. */
const SETTLED_MS = 2_000

/**
 * Measures very many checks that go down at once under one policy (docs/spec/alerting.md#alerting-bounds): time until
 * their incidents and notifications exist.
 */
export async function benchOnePolicy({ checks, overdue }: { checks: number; overdue: number }): Promise<Row> {
  await using receiver = await openReceiver(5, INTEGRATIONS)
  await using stack = await openBenchStack()
  const { db } = stack
  await addChecks(db, checks)
  const share = Math.round(checks / overdue)
  await db.raw(
    `UPDATE checks SET status = 'up', last_ping = now() - interval '1 day', alert_after = now() + interval '2 days'`,
  )
  for (let n = 0; n < INTEGRATIONS; n++) await addWebhook(stack, receiver.url, '{"n": $GROUP_COUNT, "of": $GROUP_JSON}')
  const { id } = await db('projects').first('id')
  const plan = { ...IMPLICIT_PLAN, group: { checks: 20, within: WITHIN } }
  await insertPolicy(db, id, { name: 'all', match: '*', position: 0, plan })
  await db.raw('VACUUM ANALYZE checks, check_deadlines, check_integrations')
  await stack.workers('ping-evaluator', 'sweeper', 'alerter', 'notifier')
  await db.raw(`UPDATE checks SET alert_after = now() - interval '1 minute' WHERE id % ? = 0`, [share])

  const begun = await reached(() => count(db, 'flips'), 1)
  const opened = await reached(() => count(db, 'incidents'), Math.floor(checks / share))
  const notified = await receiver.complete
  await sleep(SETTLED_MS)
  const isFull = overdue === 100_000
  return {
    name: `${overdue} of ${checks} down under one policy`,
    'incidents in s': ((opened - begun) / 1000).toFixed(1),
    limit: isFull ? '15 s' : '',
    'notified after s': ((notified - begun) / 1000).toFixed(1),
    messages: receiver.messages(),
    integrations: INTEGRATIONS,
    'digests of': (await db('notification_bundles').where({ direction: 'down' }).pluck('size')).join(', '),
  }
}

async function count(db: Knex, table: 'flips' | 'incidents'): Promise<number> {
  const { rows } = await db.raw<{ rows: { n: number }[] }>(`SELECT count(*)::int AS n FROM ${table}`)
  return rows[0]?.n ?? 0
}

/** @returns time at which the count was reached, in milliseconds since 1970 */
async function reached(counted: () => Promise<number>, wanted: number): Promise<number> {
  for (const started = performance.now(); (await counted()) < wanted; ) {
    if (performance.now() - started > 240_000) throw new Error('it did not come to its end within four minutes')
    await sleep(250)
  }
  return Date.now()
}
