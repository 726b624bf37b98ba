import { randomUUID } from 'node:crypto'
import test from 'ava'
import { setFirstReminders } from '#shared/monitoring/reports/report-store.ts'
import { nextReport } from '#shared/monitoring/reports/report-times.ts'
import { createTeam, emailOf, join, type Team } from '../../ingress/web/people.ts'
import { createVisitor, type Visitor } from '../../ingress/web/visitor.ts'
import { eventually } from '../../support/eventually.ts'
import { addMethod } from '../../support/personal.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addCheck } from '../../support/projects.ts'
import { openSmtpSink, type RecordedMail, type SmtpSink } from '../../support/smtp-sink.ts'

interface Fixture extends AsyncDisposable {
  smtp: SmtpSink
  app: HttpProduct
  team: Team
  owner: Visitor
  /** of the owner */
  userId: number
}

async function open(): Promise<Fixture> {
  const smtp = await openSmtpSink()
  const app = await openProduct({ listener: 'http', env: { SMTP_URL: smtp.url } })
  const team = await createTeam(app, 'Acme')
  const owner = await join(app, team, 'owner')
  const user = await app
    .db('users')
    .where({ email: emailOf(team, 'owner') })
    .first('id')
  return {
    smtp,
    app,
    team,
    owner,
    userId: Number(user?.id),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await smtp[Symbol.asyncDispose]()
    },
  }
}

/** Returns the text of a mail, decoded from quoted-printable. */
function textOf(mail: RecordedMail): string {
  return mail.raw
    .toString()
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** Adds a check that is down since an instant. */
async function downCheck({ app, team }: Fixture, name: string, at: Date, state = 'alerting', tags = '') {
  const check = await addCheck(app.deps, team.project.id, { name, tags })
  await app
    .db('checks')
    .where({ id: check.id })
    .update({ status: 'down', n_pings: 5, created_at: new Date(0) })
  await app
    .db('flips')
    .insert({ check_id: check.id, at, from_status: 'up', to_status: 'down', reason: 'timeout', processed_at: at })
  await app.db('incidents').insert({
    id: randomUUID(),
    project_id: team.project.id,
    check_id: check.id,
    state,
    is_direct: true,
    severity: 'critical',
    down_at: at,
  })
  return check
}

/** Adds two failed messages to a person, of which one bundles two notifications, and one that was no longer needed. */
async function failedMessages({ app, userId }: Fixture, checkId: number, at: Date) {
  const methodId = await addMethod(app.deps, userId, 'gotify', { url: 'http://127.0.0.1:9', token: 'x' })
  const [first, second] = [randomUUID(), randomUUID()]
  const common = { check_id: checkId, user_id: userId, method_id: methodId, check_status: 'down', what: 'first' }
  const row = { ...common, state: 'failed', error: 'Time-out', created_at: at, attempts: 1 }
  await app.db('notifications').insert([
    { ...row, id: first, leader_id: first, entry: 1 },
    { ...row, id: randomUUID(), leader_id: first, entry: 2 },
    { ...row, id: second, leader_id: null, entry: 3 },
    { ...row, id: randomUUID(), leader_id: null, entry: 4, state: 'suppressed', error: 'Superseded' },
  ])
}

const HOUR = 3_600_000

test('reports and reminders are off by default; a wrong zone is refused', async (t) => {
  await using fixture = await open()
  const { owner, app, userId } = fixture
  t.is(await app.db('user_reports').first(), undefined)
  const wrong = await owner.post('/account/reports', { report: 'daily', reminder: 'off', tz: 'Mars' }, '/account')
  t.is(wrong.status, 400)
  t.true(wrong.text.includes('The time zone is not known.'))
  t.is(await app.db('user_reports').first(), undefined)
  const wanted = { report: 'weekly', reminder: 'daily', tz: 'Europe/Riga' }
  t.is((await owner.post('/account/reports', wanted, '/account')).status, 303)
  const row = await app.db('user_reports').first()
  t.like(row, wanted)
  const settings = { report: 'weekly', reminder: 'daily', tz: 'Europe/Riga' } as const
  t.is(row.report_at.getTime() * 1000, nextReport(settings, userId, app.deps.now()) ?? 0)
})

test('two sweepers send one report, which one click unsubscribes', async (t) => {
  await using fixture = await open()
  const { smtp, app, owner, userId } = fixture
  await owner.post('/account/reports', { report: 'daily', reminder: 'hourly', tz: 'UTC' }, '/account')
  const midnight = new Date(new Date().setUTCHours(0, 0, 0, 0))
  const down = await downCheck(fixture, 'backup', new Date(midnight.getTime() - 6 * HOUR))
  await failedMessages(fixture, down.id, new Date(midnight.getTime() - 5 * HOUR))
  const silent = await addCheck(app.deps, fixture.team.project.id, { name: 'forgotten' })
  await app
    .db('checks')
    .where({ id: silent.id })
    .update({ created_at: new Date(Date.now() - 40 * 24 * HOUR) })
  await app.db('user_reports').update({ report_at: new Date(Math.max(midnight.getTime(), Date.now() - 1000)) })
  await app.workers(['sweeper', 'mailer'])
  await using _second = await app.workers(['sweeper'])
  const mail = await smtp.waitFor((one) => one.raw.includes('daily report'))
  const text = textOf(mail)
  t.deepEqual(mail.to, [emailOf(fixture.team, 'owner')])
  t.true(text.includes('Uptime: 75.000 %'), text)
  t.true(text.includes('Downtime: 6 hours, 0 minutes'), text)
  t.true(text.includes('- backup: down 6 hours, 0 minutes'))
  t.true(text.includes('Messages not delivered: 2'), text)
  t.true(text.includes('Incidents: 1'))
  t.regex(text, /Without a ping for 30 days:[\s\S]*- forgotten/)
  t.regex(text, /List-Unsubscribe-Post: List-Unsubscribe=One-Click/)
  const row = await eventually('the next report', async () => {
    const found = await app.db('user_reports').where({ user_id: userId }).first()
    return found.report_at > new Date() ? found : null
  })
  t.is(row.report, 'daily')
  // A clock that is set back makes the same period due again.
  await app.db('user_reports').update({ report_at: new Date(Math.max(midnight.getTime(), Date.now() - 1000)) })
  await eventually('the next report', async () => (await app.db('user_reports').first()).report_at > new Date())
  t.is((await app.db('report_mails').where({ kind: 'report' })).length, 1)

  const link = /Unsubscribe: http:\/\/[^/]+(\/reports\/\S+)/.exec(text)?.[1] ?? ''
  const visitor = createVisitor(app.url)
  t.is((await visitor.get(`${link.slice(0, -4)}AAAA`)).status, 404)
  t.is((await visitor.get(link)).status, 200)
  t.is((await app.db('user_reports').first()).report, 'daily', 'scanners that follow links change nothing')
  t.is((await visitor.send(link, { 'List-Unsubscribe': 'One-Click' })).status, 200)
  t.like(await app.db('user_reports').first(), { report: 'off', report_at: null, reminder: 'hourly' })
})

test('a reminder groups open, acknowledged and maintained outages until all ended', async (t) => {
  await using fixture = await open()
  const { smtp, app, owner, team } = fixture
  await owner.post('/account/reports', { report: 'off', reminder: 'hourly', tz: 'Europe/Riga' }, '/account')
  const at = new Date('2026-11-20T10:00:00Z')
  const check = await downCheck(fixture, 'backup', at)
  await downCheck(fixture, 'known', at, 'acknowledged')
  await downCheck(fixture, 'planned', at, 'alerting', 'db')
  await app.db('maintenance_windows').insert({
    project_id: team.project.id,
    match: 'db',
    starts_at: new Date(Date.now() - HOUR),
    ends_at: new Date(Date.now() + HOUR),
  })
  await app.workers(['sweeper', 'mailer'])
  const mail = await smtp.waitFor((one) => one.raw.includes('Reminder:'))
  const text = textOf(mail)
  t.true(text.includes('Subject: Reminder: 1 check is still down'), text)
  t.regex(text, /backup \(Acme project\): down since 20 Nov 2026, 12:00:00 (EET|GMT\+2)/)
  t.false(text.includes('known') || text.includes('planned'))
  const next = await eventually('the next reminder', async () => {
    const { reminder_at: due } = await app.db('user_reports').first()
    return due > new Date() ? due : null
  })
  t.true(next > new Date(Date.now() + HOUR / 2))
  await app.db('incidents').where({ state: 'alerting' }).update({ state: 'resolved', resolved_at: new Date() })
  await app.db('checks').where({ id: check.id }).update({ status: 'up' })
  await app.db('user_reports').update({ reminder_at: new Date() })
  await eventually(
    'the reminder to be cleared',
    async () => (await app.db('user_reports').first()).reminder_at === null,
  )
  t.is(await setFirstReminders(app.db), 0, 'what is left is acknowledged')
  t.is((await app.db('report_mails').where({ kind: 'reminder' })).length, 1)
})
