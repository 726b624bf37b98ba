import { once } from 'node:events'
import { createServer } from 'node:net'
import test from 'ava'
import { createMailer, MailError, type OutgoingMail } from '#shared/delivery/mailer.ts'
import { openSmtpSink } from '../../support/smtp-sink.ts'

const mail: OutgoingMail = {
  messageId: 'one@signals.example',
  to: 'ops@example.org',
  subject: 'Hello',
  text: 'Hello',
  html: '<p>Hello</p>',
  headers: { 'X-One': 'a\r\nBcc: all@example.org' },
  attachments: [],
}

test('a mail server that accepts the connection and then says nothing is a time-out', async (t) => {
  const silent = createServer()
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => silent.close())
  const address = silent.address()
  if (address === null || typeof address === 'string') return t.fail()
  await using mailer = createMailer({
    url: `smtp://127.0.0.1:${address.port}`,
    from: 'a@b.example',
    connectTimeoutMs: 100,
  })
  const error = await t.throwsAsync(mailer.send(mail), { instanceOf: MailError })
  t.like(error, { failure: 'timeout', refused: null, message: 'Connection to the mail server timed out' })
})

test('many messages share few connections and all arrive', async (t) => {
  await using sink = await openSmtpSink()
  await using mailer = createMailer({ url: sink.url, from: 'a@b.example', maxConnections: 2 })
  await Promise.all(Array.from({ length: 20 }, (_, i) => mailer.send({ ...mail, messageId: `${i}@signals.example` })))
  t.is(sink.mails.length, 20)
})

test('B32: a header value cannot begin another header', async (t) => {
  await using sink = await openSmtpSink()
  await using mailer = createMailer({ url: sink.url, from: 'a@b.example' })
  await mailer.send(mail)
  const [recorded] = sink.mails
  t.deepEqual(recorded?.to, ['ops@example.org'])
  t.notRegex(String(recorded?.raw), /^Bcc:/m)
})

test('a file or URL is never read for an attachment or a body', async (t) => {
  await using sink = await openSmtpSink()
  await using mailer = createMailer({ url: sink.url, from: 'a@b.example' })
  await mailer.send({ ...mail, text: '/etc/passwd' })
  t.false(String(sink.mails[0]?.raw).includes('root:'))
})
