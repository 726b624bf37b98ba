import test from 'ava'
import PostalMime from 'postal-mime'
import { createMailer } from '#shared/delivery/mailer.ts'
import { transports } from '../../../../workers/notifier/transports/registry.ts'
import { someNotification, someRecovery } from '../../../support/notification.ts'
import { type MailRefusal, openSmtpSink, type SmtpSink } from '../../../support/smtp-sink.ts'
import { openTransportContext } from '../transport-context.ts'

const open = (sink: Pick<SmtpSink, 'url'>) =>
  createMailer({ url: sink.url, from: 'Signalbox <alerts@signals.example>' })

async function send(
  mailer: ReturnType<typeof open> | null,
  notification = someNotification(),
  value = 'ops@example.org',
) {
  await using context = openTransportContext({ mailer })
  const transport = transports.get('email')
  if (!transport) throw new Error('no e-mail transport')
  return transport.send(context, { value }, notification)
}

test('a failure mail has subject, two parts, unsubscribe headers and a stable id', async (t) => {
  await using sink = await openSmtpSink()
  await using mailer = open(sink)
  t.deepEqual(await send(mailer), { result: 'delivered' })
  const [recorded] = sink.mails
  if (!recorded) return t.fail()
  t.deepEqual(recorded.to, ['ops@example.org'])
  t.is(recorded.from, 'alerts@signals.example')
  const mail = await PostalMime.parse(recorded.raw)
  t.is(mail.subject, 'DOWN | db-backup')
  t.is(mail.messageId, '<a1f3c3c8-0e0c-4a3e-9a53-3f3d4f1f8a10@signals.example>')
  const header = (key: string) => mail.headers.find((one) => one.key === key)?.value
  t.is(header('list-unsubscribe'), '<https://signals.example/unsubscribe/abc>')
  t.is(header('list-unsubscribe-post'), 'List-Unsubscribe=One-Click')
  for (const part of [mail.text, mail.html])
    for (const text of [
      'no success signal came in time',
      'Ledger',
      'prod, db',
      '1 hour',
      '203.0.113.9',
      'Nightly dump',
      '31 Jan 2026, 12:00:00',
      'rows: 42',
    ])
      t.true(part?.includes(text), `${text} in ${part}`)
  t.false(recorded.raw.includes('803f680d-e89b-492b-82ef-2be7b774a92d'))
  t.is(mail.attachments.length, 0)
})

test('a mail shows its status by colour and loads nothing', async (t) => {
  await using sink = await openSmtpSink()
  await using mailer = open(sink)
  await send(mailer)
  await send(mailer, someRecovery())
  const [down, up] = await Promise.all(sink.mails.map(async ({ raw }) => (await PostalMime.parse(raw)).html ?? ''))
  t.true(down?.includes('background:#b3261e'))
  t.true(up?.includes('background:#1d7a4f'))
  for (const html of [down, up]) t.notRegex(html ?? '', /<script|<img|<link|url\(|@import/)
})

test('a recovery mail contains the length of the outage', async (t) => {
  await using sink = await openSmtpSink()
  await using mailer = open(sink)
  await send(mailer, someRecovery())
  const mail = await PostalMime.parse(String(sink.mails[0]?.raw))
  t.is(mail.subject, 'UP | db-backup')
  t.true(mail.text?.includes('up again, after 1 hour, 30 minutes'))
})

test('attaches a last ping by e-mail instead of quoting it', async (t) => {
  await using sink = await openSmtpSink()
  await using mailer = open(sink)
  const { lastPing } = someNotification()
  if (!lastPing) return t.fail()
  const original = 'From: a@b.example\r\nSubject: done\r\n\r\nall went well\r\n'
  await send(mailer, someNotification({ lastPing: { ...lastPing, scheme: 'email', body: Buffer.from(original) } }))
  const mail = await PostalMime.parse(String(sink.mails[0]?.raw), { forceRfc822Attachments: true })
  t.is(mail.attachments[0]?.filename, 'last-ping.eml')
  t.is(mail.attachments[0]?.mimeType, 'message/rfc822')
  t.false(mail.text?.includes('all went well'))
  t.true(String(sink.mails[0]?.raw).includes('all went well'))
})

test('quotes only the end of a long body, with a note', async (t) => {
  await using sink = await openSmtpSink()
  await using mailer = open(sink)
  const { lastPing } = someNotification()
  if (!lastPing) return t.fail()
  const body = Buffer.from(`FIRST${'x'.repeat(10_000)}LAST`)
  await send(mailer, someNotification({ lastPing: { ...lastPing, body } }))
  const mail = await PostalMime.parse(String(sink.mails[0]?.raw))
  t.false(mail.text?.includes('FIRST'))
  t.true(mail.text?.includes('LAST'))
  t.true(mail.text?.includes('only its end is shown'))
})

test('B32: names, descriptions and bodies cannot add markup or headers', async (t) => {
  await using sink = await openSmtpSink()
  await using mailer = open(sink)
  const check = { ...someNotification().check, name: 'x\r\nBcc: all@example.org', desc: '<script>alert(1)</script>' }
  await send(mailer, someNotification({ check }))
  const mail = await PostalMime.parse(String(sink.mails[0]?.raw))
  t.is(mail.subject, 'DOWN | x Bcc: all@example.org')
  t.is(mail.bcc, undefined)
  t.false(mail.html?.includes('<script>'))
  t.deepEqual(sink.mails[0]?.to, ['ops@example.org'])
})

for (const [refusal, result] of [
  [{ code: 550, at: 'RCPT' }, 'permanent'],
  [{ code: 554, at: 'DATA' }, 'temporary'],
  [{ code: 450, at: 'RCPT' }, 'temporary'],
  [{ code: 421, at: 'MAIL' }, 'temporary'],
  [{ code: 452, at: 'DATA' }, 'temporary'],
  [{ code: 550, at: 'MAIL' }, 'temporary'],
] satisfies [MailRefusal, string][])
  test(`an SMTP response ${refusal.code} to ${refusal.at} is a ${result} failure`, async (t) => {
    await using sink = await openSmtpSink()
    await using mailer = open(sink)
    sink.refuse = () => ({ ...refusal, text: 'host 10.1.2.3 refused' })
    t.like(await send(mailer), { result, error: `Mail server answered ${refusal.code}`, failure: 'refused' })
    t.is(sink.mails.length, 0)
  })

for (const [body, scheme] of [
  ['Subject: done\r\n\r\nforbidden words\r\n', 'email'],
  ['forbidden words', 'http'],
] as const)
  test(`retries a refused message without the ping (${scheme})`, async (t) => {
    await using sink = await openSmtpSink()
    await using mailer = open(sink)
    sink.refuse = (attempt) => (attempt === 1 ? { code: 550, at: 'DATA' } : null)
    const { lastPing } = someNotification()
    if (!lastPing) return t.fail()
    const ping = { ...lastPing, scheme, ua: 'forbidden words', body: Buffer.from(body) }
    t.deepEqual(await send(mailer, someNotification({ lastPing: ping })), { result: 'delivered' })
    const raw = String(sink.mails[0]?.raw)
    t.true(raw.includes('DOWN | db-backup'))
    t.false(raw.includes('forbidden words'))
  })

test('a message refused twice fails without disabling the integration', async (t) => {
  await using sink = await openSmtpSink()
  await using mailer = open(sink)
  let attempts = 0
  sink.refuse = (attempt) => {
    attempts = attempt
    return { code: 550, at: 'DATA' }
  }
  t.like(await send(mailer), { result: 'temporary', error: 'Mail server answered 550', final: true })
  t.is(attempts, 2)
})

test('an unreachable mail server is a temporary failure without its address', async (t) => {
  const closed = await openSmtpSink()
  await closed[Symbol.asyncDispose]()
  await using mailer = open(closed)
  t.like(await send(mailer), { result: 'temporary', error: 'Connection to the mail server failed', failure: 'connect' })
})

test('sends the next message after a refused one', async (t) => {
  await using sink = await openSmtpSink()
  await using mailer = open(sink)
  sink.refuse = (attempt) => (attempt === 1 ? { code: 451, at: 'DATA' } : null)
  t.is((await send(mailer)).result, 'temporary')
  t.is((await send(mailer)).result, 'delivered')
})

test('an unverified address or missing mail server is a final failure', async (t) => {
  const integration = { ...someNotification().integration, isEmailVerified: false }
  t.like(await send(null, someNotification({ integration })), {
    result: 'temporary',
    error: 'Email not verified',
    final: true,
  })
  t.like(await send(null), { result: 'temporary', error: 'Email notifications are not enabled', final: true })
})

test('refuses two recipients in one address', async (t) => {
  t.like(await send(null, someNotification(), 'a@example.org,b@example.org'), {
    result: 'permanent',
    failure: 'config',
  })
})
