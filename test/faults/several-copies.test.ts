import test from 'ava'
import { microsOfSeconds, nowMicros } from '#shared/time.ts'
import { addMail, addWebhook, notify } from '../support/alerts.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { openSmtpSink } from '../support/smtp-sink.ts'
import { backlogEmpty } from './ledger.ts'
import { lockTable } from './lock-table.ts'

/** Each check sends two mails to one address, which has a limit of 30 a minute. */
const CHECKS = 10
const HOUR = microsOfSeconds(3600)

test.serial('two sweepers, two notifiers and four evaluators notify each integration once per change', async (t) => {
  await using sink = await openHttpSink()
  await using mail = await openSmtpSink()
  await using product = await openProduct({ env: { SMTP_URL: mail.url } })
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const past = await product.ingress({ now: () => nowMicros() - HOUR })
  const checks = await Promise.all(
    Array.from({ length: CHECKS }, () => addCheck(deps, project.id, { timeoutSeconds: 60, graceSeconds: 60 })),
  )
  const integrations = [
    await addWebhook(deps, project.id, sink.url),
    await addMail(deps, project.id, 'ops@example.org'),
  ]
  await notify(product.db, checks, integrations)
  for (let copy = 0; copy < 4; copy++) await product.workers(['ping-evaluator'])
  await Promise.all(checks.map(({ uuid }) => fetch(`${past.base}/ping/${uuid}`)))
  await backlogEmpty(product)

  // Freezes one worker of each kind during work, and resumes it after the others have done a part.
  const frozen = product.spawn('workers', ['sweeper', 'notifier'])
  await sink.waitFor(1)
  await product.workers(['sweeper', 'notifier'])
  frozen.signal('SIGSTOP')
  const downs = async () => (await product.db('flips').where({ to_status: 'down' }).select('id')).length
  await eventually('every check to be down', async () => (await downs()) === CHECKS)
  frozen.signal('SIGCONT')
  await sink.waitFor(CHECKS)
  await mail.waitFor(CHECKS)

  // The recovery follows all messages that might have been sent twice.
  await Promise.all(checks.map(({ uuid }) => fetch(`${base}/ping/${uuid}`)))
  await sink.waitFor(2 * CHECKS)
  await mail.waitFor(2 * CHECKS)
  await eventually('every notification to have ended', async () => {
    const open = await product.db('notifications').where({ state: 'pending' }).select('id')
    return open.length === 0
  })
  const notified = sink.requests.map(({ path, body }) => `${path} ${body}`)
  t.deepEqual(notified.toSorted(), checks.flatMap(({ uuid }) => [`/down ${uuid}`, `/up ${uuid}`]).toSorted())
  t.is(mail.mails.length, 2 * CHECKS)
  const flips = await product.db('flips').select('check_id', 'to_status')
  // new to up, up to down, down to up
  t.is(flips.length, 3 * CHECKS)
  const { rows } = await product.db.raw(`SELECT count(*)::int AS attempts FROM notification_attempts`)
  t.is(rows[0].attempts, 4 * CHECKS)
})

test.serial('a notifier that was frozen past its lease leaves the message to the new lease holder', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ env: { DATABASE_TIMEOUT_MS: '30000' } })
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const check = await addCheck(deps, project.id)
  await notify(product.db, [check], [await addWebhook(deps, project.id, sink.url)])
  await product.workers(['ping-evaluator', 'notifier', 'sweeper'])
  const ping = async (suffix: string) => (await fetch(`${base}/ping/${check.uuid}${suffix}`)).text()
  t.is(await ping(''), 'OK')

  await eventually('the check to be up', async () => (await product.db('checks').first('status'))?.status === 'up')
  // The notifier reads the last ping between claiming and sending. The test locks that table to control the duration.
  await using frozen = await lockTable(product.db, 'pings')
  await product.db('checks').update({ status: 'down', alert_after: null })
  await product
    .db('flips')
    .insert({ check_id: check.id, at: new Date(), from_status: 'up', to_status: 'down', reason: 'fail' })
  const claims = async (count: number) =>
    await eventually(
      `claim ${count}`,
      async () => (await product.db('notifications').first('attempts'))?.attempts === count,
    )
  await claims(1)
  await product.db.raw(`UPDATE notifications SET lease_until = now(), queued_until = now()`)
  await claims(2)
  await frozen.release()

  await sink.waitFor(1)
  t.is(await ping(''), 'OK')
  await sink.waitFor(({ path }) => path === '/up')
  t.deepEqual(
    sink.requests.map(({ path }) => path),
    ['/down', '/up'],
  )
  const attempts = await eventually('both changes to be recorded', async () => {
    const rows = await product.db('notification_attempts').pluck('n').orderBy('n', 'desc')
    return rows.length >= 2 && rows
  })
  t.deepEqual(attempts, [2, 1], 'the second attempt at the first change, the first at the second')
})
