import { randomUUID } from 'node:crypto'
import test from 'ava'
import { IMPLICIT_PLAN } from '#shared/monitoring/alerting/policy.ts'
import { insertPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import { integrationKinds } from '#shared/monitoring/integrations/kinds.ts'
import {
  bounceAddress,
  callbackPath,
  failureOfForm,
  failureOfStatus,
  isSigned,
  readBounceAddress,
} from '#shared/monitoring/notifications/callbacks.ts'
import { transports } from '../../../workers/notifier/transports/registry.ts'
import { addMail, addWebhook, notify } from '../../support/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpSink, openHttpSink } from '../../support/http-sink.ts'
import { someNotification } from '../../support/notification.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { send } from '../../support/send.ts'
import { openSmtpSink, type SmtpSink } from '../../support/smtp-sink.ts'
import { openTransportContext } from '../../workers/notifier/transport-context.ts'
import { createTeam, emailOf, join } from '../web/people.ts'

let app: HttpProduct
let smtp: SmtpSink
let http: HttpSink

test.before(async () => {
  smtp = await openSmtpSink()
  http = await openHttpSink()
  app = await openProduct({
    listener: 'http',
    hasRowSecurity: true,
    workers: ['ping-evaluator', 'alerter', 'notifier', 'sweeper'],
    env: { SMTP_URL: smtp.url, BOUNCE_DOMAIN: 'bounces.example' },
  })
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
  await http?.[Symbol.asyncDispose]()
  await smtp?.[Symbol.asyncDispose]()
})

/** A message of an integration that was delivered some hours ago. */
async function delivered(hoursAgo = 0, kind = 'sms') {
  const { project } = await addProject(app.deps)
  const integration = await addWebhook(app.deps, project.id, http.url)
  await app.db('integrations').where({ id: integration.id }).update({ kind })
  const id = randomUUID()
  const at = new Date(Date.now() - hoursAgo * 3_600_000)
  await app.db('notifications').insert({
    id,
    integration_id: integration.id,
    check_status: 'down',
    what: 'test',
    state: 'delivered',
    attempts: 1,
    created_at: at,
    finished_at: at,
  })
  return {
    id,
    now: async () => {
      const message = await app.db('notifications').where({ id }).first()
      const stored = await app.db('integrations').where({ id: integration.id }).first()
      return { error: message.error, last: stored.last_error, isDisabled: stored.disabled_at !== null }
    },
  }
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const reportPath = (id: string) => callbackPath(id, app.deps.secrets.digest(`callback:${id}`))
const report = async (id: string, body: string, path = reportPath(id)) =>
  await send(app.url, path, { method: 'POST', headers: FORM, body })

/** The report of a mail server that gives up a message (RFC 3464). */
function bounce(to: string, status: string): string {
  return [
    'From: MAILER-DAEMON@mx.example',
    `To: <${to}>`,
    'Subject: Undelivered Mail Returned to Sender',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b1"',
    '',
    '--b1',
    'Content-Type: text/plain',
    '',
    'Status: 4.0.0 may occur in the text too.',
    '--b1',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example',
    '',
    'Final-Recipient: rfc822; ops@example.org',
    'Action: failed',
    `Status: ${status}`,
    'Diagnostic-Code: smtp; 550 no such user',
    '--b1--',
    '',
  ].join('\r\n')
}
const bounced = async (body: string) => await send(app.url, '/api/v3/bounces/', { method: 'POST', body })

test.serial('a bounced mail disables its integration and starts the next step of the policy', async (t) => {
  const { project } = await addProject(app.deps)
  const check = await addCheck(app.deps, project.id, { name: 'db' })
  const mail = await addMail(app.deps, project.id, 'ops@example.org')
  const chat = await addWebhook(app.deps, project.id, `${http.url}/boss`)
  await notify(app.db, [check], [mail])
  const [step] = IMPLICIT_PLAN.steps
  if (!step) return t.fail()
  const steps = [step, { ...step, wait: 86_400, channels: [chat.uuid] }]
  await insertPolicy(app.db, project.id, { name: 'all', match: '*', position: 0, plan: { ...IMPLICIT_PLAN, steps } })
  await send(app.url, `/ping/${check.uuid}`)
  await send(app.url, `/ping/${check.uuid}/fail`)
  const notified = await smtp.waitFor(({ to }) => to.includes('ops@example.org'))
  t.regex(notified.from, /^n[0-9a-f]{32}-[0-9a-f]{28}@bounces\.example$/)
  t.true(notified.from.indexOf('@') <= 64, 'what may stand before an @')
  const message = await eventually('the mail to be recorded', async () =>
    app.db('notifications').where({ integration_id: mail.id, state: 'delivered' }).first(),
  )

  t.is(
    (
      await bounced(
        bounce(
          notified.from.replace(/-./, (it) => (it === '-0' ? '-1' : '-0')),
          '5.1.1',
        ),
      )
    ).status,
    200,
  )
  t.is((await app.db('integrations').where({ id: mail.id }).first()).disabled_at, null, 'the signature is not ours')
  const answer = await bounced(bounce(notified.from, '5.1.1'))
  t.is(answer.status, 200)
  t.is(answer.text, '')
  const integration = await app.db('integrations').where({ id: mail.id }).first()
  t.not(integration.disabled_at, null)
  t.is(integration.last_error, 'Delivery failed (status=5.1.1).')
  t.is((await app.db('notifications').where({ id: message.id }).first()).state, 'failed')
  await eventually('the boss to be notified', async () => http.requests.find(({ url }) => url === '/boss/down'))
})

/** A mail to an integration that was taken and comes back, several times at once. */
async function comesBack(projectId: number, address: string): Promise<void> {
  const { id: integrationId } = await addMail(app.deps, projectId, address)
  const id = randomUUID()
  await app
    .db('notifications')
    .insert({ id, integration_id: integrationId, check_status: 'down', what: 'test', state: 'delivered', attempts: 1 })
  const sender = bounceAddress(id, app.deps.secrets.digest(`bounce:${id}`), 'bounces.example')
  await Promise.all([1, 2, 3].map(() => bounced(bounce(sender, '5.1.1'))))
}
/** Texts of mails to an address that report a disabled integration, with the breaks of long lines removed. */
const noticesTo = (address: string) =>
  smtp.mails
    .filter(({ to }) => to.includes(address))
    .map(({ raw }) =>
      raw
        .toString()
        .replaceAll('=\r\n', '')
        .replace(/\r\n[ \t]/g, ' '),
    )
    .filter((text) => text.includes('Message-ID: <disabled.'))

test.serial('a bounce is reported once to other recipients, or else to owners and managers', async (t) => {
  const team = await createTeam(app, 'Bounced')
  const { id: projectId } = team.project
  for (const role of ['owner', 'manager', 'member'] as const) await join(app, team, role)
  await addMail(app.deps, projectId, 'ops@bounced.example')
  await comesBack(projectId, 'gone@bounced.example')
  const notified = await eventually('the other to be notified', () => noticesTo('ops@bounced.example')[0])
  t.regex(
    notified,
    /"email" \(email\) was disabled[\s\S]*Project: Bounced project\s+Reason: Delivery failed \(status=3D5\.1\.1\)/,
  )
  t.regex(notified, /List-Unsubscribe:/)
  t.is(noticesTo(emailOf(team, 'owner')).length, 0)

  await app.db('integrations').where({ project_id: projectId }).update({ disabled_at: app.db.fn.now() })
  await comesBack(projectId, emailOf(team, 'manager'))
  const owner = await eventually('the owner to be notified', () => noticesTo(emailOf(team, 'owner'))[0])
  t.notRegex(owner, /Unsubscribe/)
  for (const address of [emailOf(team, 'manager'), emailOf(team, 'member'), 'gone@bounced.example'])
    t.is(noticesTo(address).length, 0, address)
  for (const address of ['ops@bounced.example', emailOf(team, 'owner')]) t.is(noticesTo(address).length, 1, address)
})

test.serial('disables by a bounce about the recipient only, for 48 hours', async (t) => {
  const address = (id: string) => bounceAddress(id, app.deps.secrets.digest(`bounce:${id}`), 'bounces.example')
  for (const [status, isDisabled] of [
    ['4.2.2', false],
    ['5.4.4', false],
    ['5.2.3', false],
    ['5.3.4', false],
    ['5.6.0', false],
    ['5.7.1', false],
    ['5.2.1', true],
  ] as const) {
    const message = await delivered(47, 'email')
    t.is((await bounced(bounce(address(message.id), status))).status, 200)
    const error = `Delivery failed (status=${status}).`
    t.deepEqual(await message.now(), { error, last: error, isDisabled })
  }
  const untouched = { error: '', last: '', isDisabled: false }
  const old = await delivered(49, 'email')
  t.is((await bounced(bounce(address(old.id), '5.1.1'))).status, 200)
  t.deepEqual(await old.now(), untouched)
  const young = await delivered(0, 'email')
  for (const body of ['', 'no mail', bounce(address(young.id), '2.0.0'), bounce('ops@example.org', '5.1.1')])
    t.is((await bounced(body)).status, 200)
  t.deepEqual(await young.now(), untouched)
})

test.serial('a gateway can report the result of a message later, and every report gets 200', async (t) => {
  const first = await delivered()
  t.is((await report(first.id, 'MessageStatus=undelivered')).text, '')
  const undelivered = 'Delivery failed (status=undelivered).'
  t.deepEqual(await first.now(), { error: undelivered, last: undelivered, isDisabled: false })
  const called = await delivered()
  t.is((await report(called.id, 'CallStatus=failed')).status, 200)
  t.is((await called.now()).error, 'Delivery failed (status=failed).')
  const marked = await delivered()
  t.is((await report(marked.id, `error=${'x'.repeat(300)}&mark_disabled=1`)).status, 200)
  t.deepEqual(await marked.now(), { error: 'x'.repeat(200), last: 'x'.repeat(200), isDisabled: true })

  const fine = await delivered()
  for (const body of ['', 'MessageStatus=delivered', 'CallStatus=completed', 'error=%00', 'error=&mark_disabled=1'])
    t.is((await report(fine.id, body)).status, 200)
  t.deepEqual(await fine.now(), { error: '', last: '', isDisabled: false })
  const old = await delivered(2)
  t.is((await report(old.id, 'error=late')).status, 200)
  t.is((await old.now()).error, '')
  t.is((await report(randomUUID(), 'error=unknown')).status, 200)
  const wrong = await send(app.url, `/api/v3/notifications/${fine.id}/status`)
  t.is(wrong.status, 405)
  t.is(wrong.headers.allow, 'POST')
})

test.serial('accepts a report once, only with our signature and for gateway kinds', async (t) => {
  const [untouched, body] = [{ error: '', last: '', isDisabled: false }, 'error=gone&mark_disabled=1']
  const message = await delivered()
  const bare = `/api/v3/notifications/${message.id}/status`
  const bounceSignature = app.deps.secrets.digest(`bounce:${message.id}`).toString('hex').slice(0, 28)
  const wrong = ['?signature=', `?${reportPath(randomUUID()).split('?')[1]}`, `?signature=${bounceSignature}`]
  for (const query of ['', ...wrong]) t.is((await report(message.id, body, bare + query)).status, 200, query)
  t.deepEqual(await message.now(), untouched)
  for (const kind of integrationKinds.keys()) {
    const isGateway = ['sms', 'whatsapp', 'call'].includes(kind)
    const other = await delivered(0, kind)
    t.is((await report(other.id, body)).status, 200)
    t.is((await report(other.id, 'error=again')).status, 200)
    t.deepEqual(await other.now(), isGateway ? { error: 'gone', last: 'gone', isDisabled: true } : untouched, kind)
  }
})

test('the gateway gets a callback URL if it can reach us', async (t) => {
  const twilio = { url: http.url, account: 'AC1', auth: 'tok', from: '+15550199' }
  const callbackUrlOf = (id: string) => `https://signals.example/api/v3/notifications/${id}/status`
  const settings = { siteName: 'Signalbox', twilio, appriseUrl: null, mayRunCommands: false }
  await using context = openTransportContext({ settings: { ...settings, callbackUrlOf } })
  const notification = someNotification()
  for (const kind of ['sms', 'call', 'whatsapp']) {
    const value = `+1555010${kind.length}`
    await transports.get(kind)?.send(context, { value }, notification)
    const sent = http.requests
      .map(({ body }) => new URLSearchParams(String(body)))
      .find((form) => form.get('To')?.endsWith(value))
    t.is(sent?.get('StatusCallback'), callbackUrlOf(notification.id), kind)
  }
})

test('an envelope sender is parsed and verified, and a status gives the severity', (t) => {
  const id = 'a1f3c3c8-0e0c-4a3e-9a53-3f3d4f1f8a10'
  const digest = Buffer.alloc(32, 7)
  const read = readBounceAddress(`"Ops" <${bounceAddress(id, digest, 'b.example').toUpperCase()}>`)
  t.is(read?.notificationId, id)
  const signature = read?.signature ?? Buffer.alloc(0)
  t.true(isSigned(signature, [Buffer.alloc(32, 1), digest]))
  t.false(isSigned(signature, [Buffer.alloc(32, 1)]))
  t.false(isSigned(Buffer.alloc(0), [digest]))
  t.is(readBounceAddress('ops@example.org'), null)
  const disables = (statuses: string) => statuses.split(' ').map((status) => failureOfStatus(status)?.disables)
  t.deepEqual(disables(' 2.1.5'), [undefined, undefined])
  t.deepEqual(new Set(disables('5.1.1 5.1.10 5.7.13 5.7.17 5.7.18')), new Set([true]))
  t.deepEqual(new Set(disables('5.1.7 5.1.8 5.7.1 5.7.130 5.6.2')), new Set([false]))
  t.is(failureOfForm(new URLSearchParams('MessageStatus=sent')), null)
})
