import { randomUUID } from 'node:crypto'
import test from 'ava'
import { createTeam, emailOf, join } from '../../ingress/web/people.ts'
import { eventually } from '../../support/eventually.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { openSmtpSink } from '../../support/smtp-sink.ts'

test.serial('a run is abandoned 72 hours after its deadline, and not before', async (t) => {
  await using product = await openProduct({ listener: 'http', workers: [] })
  const { db, deps } = product
  const { project } = await addProject(deps)
  const check = await addCheck(deps, project.id, { name: 'job' })
  for (const [slot, ago] of ['71 hours 50 minutes', '72 hours 1 second'].entries()) {
    await db.raw(
      `INSERT INTO runs (check_id, slot, n, rid, started_at, outcome, deadline)
       VALUES (?, ?, ?, ?, now() - ?::interval - interval '1 hour', 'open', now() - ?::interval)`,
      [check.id, slot, slot + 1, randomUUID(), ago, ago],
    )
  }
  await product.workers(['sweeper'])
  await eventually('the older run to be abandoned', async () => {
    return (await db('runs').where({ check_id: check.id, outcome: 'abandoned' })).length > 0
  })
  t.deepEqual(await db('runs').where({ check_id: check.id }).orderBy('n').pluck('outcome'), ['open', 'abandoned'])
})

test.serial('owners are notified at most once a day of runs abandoned above the limit', async (t) => {
  await using smtp = await openSmtpSink()
  await using app = await openProduct({ listener: 'http', env: { SMTP_URL: smtp.url } })
  const team = await createTeam(app, 'Acme')
  for (const role of ['owner', 'member'] as const) await join(app, team, role)
  const { db } = app
  const check = await addCheck(app.deps, team.project.id, { name: 'nightly' })
  await db('check_rules').insert({ check_id: check.id, run: { watch: 'each', open: 2 } })
  await db('checks').where({ id: check.id }).update({ rule_bits: 1 })
  const start = async () => {
    const url = `${app.url}/ping/${check.uuid}/start?rid=${randomUUID()}`
    t.is((await fetch(url, { method: 'POST' })).status, 200)
  }
  const abandonedRuns = async (count: number) =>
    await eventually(`${count} runs to be abandoned`, async () => {
      return (await db('runs').where({ check_id: check.id, outcome: 'abandoned' })).length === count
    })
  for (let n = 0; n < 3; n++) await start()
  await abandonedRuns(1)
  {
    await using _first = await app.workers(['sweeper', 'mailer'])
    await smtp.waitFor(1)
  }
  t.deepEqual(
    smtp.mails.flatMap(({ to }) => to),
    [emailOf(team, 'owner')],
  )
  // The text is quoted-printable, with soft line breaks.
  const text = String(smtp.mails[0]?.raw).replaceAll('=\r\n', '')
  t.regex(text, /Runs of the check "nightly" start and do not end/)

  // Another on the same day waits until the day is over.
  await start()
  await abandonedRuns(2)
  {
    await using _second = await app.workers(['sweeper', 'mailer'])
    // One sweep abandons old runs and then finds their recipients; it completes before the worker does.
    await db('runs').insert({
      check_id: check.id,
      slot: 90,
      n: 90,
      outcome: 'open',
      deadline: db.raw(`now() - interval '73 hours'`),
    })
    await abandonedRuns(3)
  }
  t.is(smtp.mails.length, 1)
  t.not((await db('check_tallies').where({ check_id: check.id }).first()).abandoned_at, null)
  await db('check_tallies').update({ abandoned_notified_at: db.raw(`now() - interval '25 hours'`) })
  await app.workers(['sweeper', 'mailer'])
  await smtp.waitFor(2)
  t.is(smtp.mails.length, 2)
})
