import test from 'ava'
import { insertUser } from '#shared/tenancy/accounts/store.ts'
import { createVisitor } from '../ingress/web/visitor.ts'
import { eventually } from '../support/eventually.ts'
import { openProduct } from '../support/product.ts'
import { openSmtpSink } from '../support/smtp-sink.ts'

test('a mail with a link is stored, retried, sent once and deleted', async (t) => {
  await using smtp = await openSmtpSink()
  smtp.refuse = (attempt) => (attempt === 1 ? { code: 451, at: 'DATA' } : null)
  await using product = await openProduct({ env: { SMTP_URL: smtp.url } })
  const { base, deps } = await product.ingress()
  await insertUser(product.db, { email: 'lost@example.com', name: '', passwordHash: null })
  await createVisitor(base).post('/reset-password', { email: 'lost@example.com' })
  const row = await eventually(
    'the mail to be stored',
    async () => (await product.db('outgoing_mails').first()) ?? null,
  )
  t.false(String(row.sealed_mail).includes('reset-password'))
  t.is(smtp.mails.length, 0, 'the request sends no mail')
  await deps.outbox.settled()
  await product.workers(['mailer', 'sweeper'])
  const mail = await smtp.waitFor((one) => one.to.includes('lost@example.com'))
  const ids = mail.raw.toString().match(/^Message-ID: .+$/gim)
  t.deepEqual(ids, [`Message-ID: <${row.id}@signalbox>`])
  await eventually('the row to be deleted', async () => (await product.db('outgoing_mails').first()) === undefined)
  t.is(smtp.mails.length, 1)
})

test('a mail that the server always refuses is dropped', async (t) => {
  await using smtp = await openSmtpSink()
  smtp.refuse = () => ({ code: 550, at: 'RCPT' })
  await using product = await openProduct({ env: { SMTP_URL: smtp.url } })
  const { base } = await product.ingress()
  await product.workers(['mailer'])
  await insertUser(product.db, { email: 'gone@example.com', name: '', passwordHash: null })
  await createVisitor(base).post('/reset-password', { email: 'gone@example.com' })
  await eventually('the link', async () => (await product.db('one_time_links').first()) ?? null)
  await eventually('the row to be deleted', async () => (await product.db('outgoing_mails').first()) === undefined)
  t.is(smtp.mails.length, 0)
})
