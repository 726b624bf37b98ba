import test from 'ava'
import type { Knex } from 'knex'
import { setNotifyUnknown } from '#shared/monitoring/projects/changes-store.ts'
import { addChat, addWebhook, notify } from '../../support/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'

/** The gap of every check ends half an hour before the hour in which this began, at any time of storage. */
const GAP_UNTIL = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - 1_800_000)

/** Adds a check with a deadline that was extended for a half-hour gap. */
async function extended(db: Knex, checkId: number, { minutesAgo = 3, hours = 24 } = {}): Promise<void> {
  await db.raw(
    `INSERT INTO unknown_periods (check_id, gap_from, gap_until, from_at, expected_at, next_at, reason, deadline_extended_at)
     SELECT ?, g.until - interval '30 minutes', g.until, g.until - interval '20 minutes', g.until + interval '1 minute',
            g.until + make_interval(secs => ?::float * 3600), 'GAP', now() - make_interval(mins => ?)
     FROM (SELECT ?::timestamptz AS until) g`,
    [checkId, hours, minutesAgo, GAP_UNTIL],
  )
}

test('checks that stay unknown are named in one message per integration that people read', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: [] })
  const { db, deps } = product
  const { project } = await addProject(deps)
  const quiet = await addProject(deps)
  const checks = await Promise.all(
    ['nightly', 'weekly', 'each minute', 'early'].map((name) => addCheck(deps, project.id, { name })),
  )
  const [nightly, weekly, frequent, early] = checks
  if (!nightly || !weekly || !frequent || !early) return t.fail()
  const chat = await addChat(deps, project.id, sink.url)
  await notify(db, checks, [chat, await addWebhook(deps, project.id, `${sink.url}/hook`)])
  const silent = await addCheck(deps, quiet.project.id, { name: 'silent' })
  await notify(db, [silent], [await addChat(deps, quiet.project.id, `${sink.url}/quiet`)])
  await setNotifyUnknown(db, quiet.project.id, false)
  await extended(db, nightly.id)
  await extended(db, weekly.id, { minutesAgo: 1, hours: 24 * 7 })
  await extended(db, frequent.id, { hours: 0.03 })
  await extended(db, silent.id)

  await product.workers(['sweeper', 'notifier'])
  await sink.waitFor(1)
  const [request] = sink.requests
  t.regex(request?.body.toString() ?? '', /UNKNOWN \| 2 checks/)
  t.regex(
    request?.body.toString() ?? '',
    /Pings could not be received from 20\d\d-\d\d-\d\d \d\d:00 to \d\d:30 UTC\. These were expected then and are not heard since: nightly, weekly\. Please look yourself\./,
  )
  await eventually(
    'the project with disabled notices to be processed',
    async () => (await db('unknown_periods').where({ check_id: silent.id }).whereNotNull('notified_at')).length === 1,
  )
  const decisions = await db('alert_decisions').where({ reason: 'UNKNOWN_NOTICE' }).orderBy('check_id')
  t.deepEqual(
    decisions.map(({ check_id: id, outcome, channels: integrations }) => [id, outcome, integrations.length]),
    [nightly.id, weekly.id].sort((a, b) => a - b).map((id) => [id, 'notified', 1]),
    'the webhook keeps a record per check and is not notified',
  )

  // A check with a later deadline extension in the same gap waits until the hour is over.
  await extended(db, early.id, { minutesAgo: 10 })
  await eventually('another sweep', async () => {
    await db.raw(`UPDATE unknown_periods SET notified_at = now() - interval '61 minutes' WHERE notified_at IS NOT NULL`)
    return (await db('unknown_periods').where({ check_id: early.id }).whereNotNull('notified_at')).length === 1
  })
  await sink.waitFor(2)
  t.regex(sink.requests[1]?.body.toString() ?? '', /UNKNOWN \| 1 check\b/)
  t.is((await db('notifications').where({ what: 'unknown' })).length, 2)
  t.is(sink.requests.length, 2)
})
