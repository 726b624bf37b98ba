import { once } from 'node:events'
import { createServer } from 'node:net'
import test from 'ava'
import PostalMime from 'postal-mime'
import { createMailer, MailError, type OutgoingMail } from '#shared/delivery/mailer.ts'
import { effort } from '../../support/effort.ts'
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

test('a mail server that accepts a connection but sends nothing times out', async (t) => {
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

test('all messages arrive over a few shared connections', async (t) => {
  await using sink = await openSmtpSink()
  await using mailer = createMailer({ url: sink.url, from: 'a@b.example', maxConnections: 2 })
  await Promise.all(Array.from({ length: 20 }, (_, i) => mailer.send({ ...mail, messageId: `${i}@signals.example` })))
  t.is(sink.mails.length, 20)
})

test('a header value cannot start another header', async (t) => {
  await using sink = await openSmtpSink()
  await using mailer = createMailer({ url: sink.url, from: 'a@b.example' })
  await mailer.send(mail)
  const [recorded] = sink.mails
  t.deepEqual(recorded?.to, ['ops@example.org'])
  t.notRegex(String(recorded?.raw), /^Bcc:/m)
})

test('a file or URL is never read as an attachment or body', async (t) => {
  await using sink = await openSmtpSink()
  await using mailer = createMailer({ url: sink.url, from: 'a@b.example' })
  await mailer.send({ ...mail, text: '/etc/passwd' })
  t.false(String(sink.mails[0]?.raw).includes('root:'))
})

/** Returns a repeatable generator of integers from 0 to below its argument. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test('no sent line exceeds 998 octets, and attached mail stays unchanged', async (t) => {
  await using sink = await openSmtpSink()
  await using mailer = createMailer({ url: sink.url, from: 'a@b.example', maxConnections: 1 })
  const next = numbers(20_260_131)
  const pieces = [
    'x',
    'é',
    '😀',
    ' ',
    '\t',
    '.',
    '=',
    '\r',
    '\n',
    '\r\n',
    '\0',
    '\u2028',
    'x'.repeat(998),
    '\xff'.repeat(500),
  ]
  const some = () =>
    Array.from({ length: next(12) }, () => (pieces[next(pieces.length)] ?? '').repeat(1 + next(3))).join('')
  for (let n = 0; n < effort(60, 300); n++) {
    const received = `Subject: ${some()}\r\n\r\n${some()}${next(2) ? '\r\n' : ''}`
    const content = Buffer.from(received, next(2) ? 'utf8' : 'latin1')
    await mailer.send({
      ...mail,
      messageId: `${n}@signals.example`,
      subject: `DOWN | ${some().replace(/[\r\n\0\u2028]/g, ' ')}`,
      text: some(),
      html: `<p>${some()}</p>`,
      attachments: [{ filename: 'last-ping.eml', contentType: 'message/rfc822', content }],
    })
    const raw = sink.mails[n]?.raw ?? Buffer.alloc(0)
    const longest = Math.max(
      ...raw
        .toString('latin1')
        .split('\r\n')
        .map((line) => line.length),
    )
    t.true(longest <= 998, `a line of ${longest} octets from ${JSON.stringify(received)}`)
    const [attached] = (await PostalMime.parse(raw, { forceRfc822Attachments: true })).attachments
    t.is(attached?.filename, 'last-ping.eml')
    const lines = (data: Uint8Array) => Buffer.from(data).toString('latin1').replace(/\r?\n/g, '\n').trimEnd()
    if (attached?.content instanceof Uint8Array || attached?.content instanceof ArrayBuffer)
      t.is(lines(new Uint8Array(attached.content)), lines(content))
    else t.fail('the attachment has no bytes')
  }
})
