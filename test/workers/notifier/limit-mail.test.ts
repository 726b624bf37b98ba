import test from 'ava'
import { noteMonthlyLimit } from '#shared/monitoring/operations/reports.ts'
import { createTeam, emailOf, join } from '../../ingress/web/people.ts'
import { openProduct } from '../../support/product.ts'
import { openSmtpSink } from '../../support/smtp-sink.ts'

test('mails owners and managers once about a reached monthly limit', async (t) => {
  await using smtp = await openSmtpSink()
  await using app = await openProduct({ listener: 'http', env: { SMTP_URL: smtp.url } })
  const team = await createTeam(app, 'Acme')
  for (const role of ['owner', 'manager', 'member'] as const) await join(app, team, role)
  await app.workers(['mailer'])
  const { id, uuid, name, organisationId } = team.project
  const limit = {
    organisationId,
    projectId: id,
    projectUuid: uuid,
    projectName: name,
    meter: 'sms',
    what: 'Monthly SMS limit exceeded',
  }
  const [november, december] = [Date.UTC(2026, 10, 1) * 1000, Date.UTC(2026, 11, 1) * 1000]
  const note = (month: number) =>
    app.deps.outbox.run((tx, enqueue) => noteMonthlyLimit(tx, enqueue, app.deps, { ...limit, month }))
  await Promise.all(Array.from({ length: 10 }, () => note(november)))
  await smtp.waitFor(2)
  t.deepEqual(smtp.mails.flatMap(({ to }) => to).sort(), [emailOf(team, 'manager'), emailOf(team, 'owner')])
  t.regex(String(smtp.mails[0]?.raw), /Monthly SMS limit exceeded: no more are sent for the project "Acme project"/)
  await note(december)
  await smtp.waitFor(4)
  t.is(smtp.mails.length, 4)
})
