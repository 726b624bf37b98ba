import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { MAIL_DOMAIN, openProduct } from '../../support/product.ts'
import { type MailProduct, openSmtpSession, type SmtpSession, startMail, withMailProject } from './mail-product.ts'

let mail: MailProduct

test.before(async () => {
  mail = await withMailProject(await openProduct({ listener: 'mail' }))
  await mail.workers(['ping-evaluator'])
})
test.after.always(async () => await mail[Symbol.asyncDispose]())

async function startEnvelope(): Promise<SmtpSession> {
  const session = await openSmtpSession(mail.port)
  await session.command('MAIL FROM:<job@example.org>')
  return session
}

/** Sends bytes as fast as the other side reads. */
async function pour(session: SmtpSession, chunk: Buffer, times: number): Promise<void> {
  for (let sent = 0; sent < times && !session.socket.destroyed; sent++) {
    if (!session.socket.write(chunk)) await Promise.race([once(session.socket, 'drain'), session.closed])
  }
}

test('recipients are evaluated by domain, then by mailbox', async (t) => {
  await using session = await startEnvelope()
  const key = 'k'.repeat(22)
  const uuid = randomUUID()
  const replies = async (...mailboxes: string[]) => {
    const all = new Set<string>()
    for (const mailbox of mailboxes) all.add(await session.command(`RCPT TO:<${mailbox}>`))
    return [...all]
  }
  const accepted = await replies(
    `${uuid}@${MAIL_DOMAIN}`,
    `${uuid.toUpperCase()}@${MAIL_DOMAIN}`,
    `${key}+a-slug_1@${MAIL_DOMAIN}`,
    `${key}+UPPER@${MAIL_DOMAIN}`,
    `k+slug@${MAIL_DOMAIN}`,
    `${uuid}@${MAIL_DOMAIN.toUpperCase()}`,
  )
  t.deepEqual(accepted, ['250 OK'])
  const foreign = await replies(`${uuid}@example.com`, 'someone@example.com', `${uuid}@sub.${MAIL_DOMAIN}`, uuid)
  t.deepEqual(foreign, ['550 5.1.1 Recipient rejected'])
  const invalid = await replies(
    `postmaster@${MAIL_DOMAIN}`,
    `00000000-0000-1000-8000-000000000000@${MAIL_DOMAIN}`,
    `00000000-0000-4000-c000-000000000000@${MAIL_DOMAIN}`,
    `${key}+@${MAIL_DOMAIN}`,
    `${'k'.repeat(65)}+slug@${MAIL_DOMAIN}`,
  )
  t.deepEqual(invalid, ['550 5.1.1 Invalid mailbox'])
})

test('of a thousand recipients a hundred are taken, the others refused for now', async (t) => {
  await using session = await startEnvelope()
  const codes: string[] = []
  for (let n = 0; n < 1_000; n++)
    codes.push((await session.command(`RCPT TO:<${randomUUID()}@${MAIL_DOMAIN}>`)).slice(0, 3))
  t.deepEqual(codes, [...Array(100).fill('250'), ...Array(900).fill('452')])
  await session.command('DATA')
  t.is(await session.command('Subject: many\r\n\r\n.'), '250 OK')
})

test('a client that probes addresses is disconnected', async (t) => {
  await using session = await startEnvelope()
  for (let n = 0; n < 100; n++) t.regex(await session.command(`RCPT TO:<user${n}@example.com>`), /^550/)
  t.regex(await session.reply(), /^421/)
  await session.closed
})

test('a mail announced as too large is refused at once, one that grows too large at its end', async (t) => {
  const check = await mail.addCheck()
  await using session = await openSmtpSession(mail.port)
  t.regex(await session.command('EHLO again.example.org'), /SIZE 33554432/)
  t.regex(await session.command('MAIL FROM:<a@example.org> SIZE=104857600'), /^552/)
  await session.command('MAIL FROM:<a@example.org>')
  await session.command(`RCPT TO:<${check.address}>`)
  await session.command('DATA')
  await pour(session, Buffer.from(`${'x'.repeat(1022)}\r\n`.repeat(1024)), 100)
  session.write('.\r\n')
  t.regex(await session.reply(), /^552/)
  // The connection continues, and the refused mail was not recorded.
  await session.command('MAIL FROM:<a@example.org>')
  await session.command(`RCPT TO:<${check.address}>`)
  await session.command('DATA')
  t.is(await session.command('Subject: small\r\n\r\n.'), '250 OK')
  t.is((await mail.pings(check.id, 1)).length, 1)
})

for (const [name, smuggled] of [
  ['LF . LF', '\n.\n'],
  ['CRLF . LF', '\r\n.\n'],
  ['LF . CRLF', '\n.\r\n'],
  ['CR . CR', '\r.\r'],
  ['CRLF . CR', '\r\n.\r'],
] as const) {
  test(`${name} does not end a mail`, async (t) => {
    const [victim, other] = [await mail.addCheck(), await mail.addCheck()]
    await using session = await startMail(mail.port, [other.address])
    const second = `MAIL FROM:<x@example.org>\r\nRCPT TO:<${victim.address}>\r\nDATA\r\nSubject: smuggled\r\n`
    session.write(`Subject: first\r\n\r\nbody${smuggled}${second}\r\n.\r\n`)
    t.is(await session.reply(), '250 OK')
    t.is(await session.command('NOOP'), '250 OK')
    const [ping] = await mail.pings(other.id, 1)
    t.true(ping?.body?.toString().includes('Subject: smuggled'))
    const [row] = await mail.db('checks').select('n_pings').where({ id: victim.id })
    t.is(Number(row?.n_pings), 0)
  })
}

test('a client that sends before the greeting is disconnected', async (t) => {
  // The greeting comes after 100 ms; a busy machine may not receive the early command within that time.
  const heard = await eventually('a command to arrive before the greeting', async () => {
    await using session = await openSmtpSession(mail.port, false)
    session.write(`EHLO early\r\nMAIL FROM:<a@example.org>\r\nRCPT TO:<${randomUUID()}@${MAIL_DOMAIN}>\r\nDATA\r\n`)
    const reply = await session.reply()
    if (reply.startsWith('220')) return undefined
    await session.closed
    return reply
  })
  t.regex(heard, /^421/)
})

test('pipelining after the greeting works, as announced', async (t) => {
  const check = await mail.addCheck()
  await using session = await openSmtpSession(mail.port)
  session.write(`MAIL FROM:<a@example.org>\r\nRCPT TO:<${check.address}>\r\nDATA\r\n`)
  t.is(await session.reply(), '250 OK')
  t.is(await session.reply(), '250 OK')
  t.regex(await session.reply(), /^354/)
  session.write('Subject: p\r\n\r\n.\r\nQUIT\r\n')
  t.is(await session.reply(), '250 OK')
  t.regex(await session.reply(), /^221/)
})

test('a sender that breaks off in the middle leaves no ping, and one without QUIT does', async (t) => {
  const [cut, whole] = [await mail.addCheck(), await mail.addCheck()]
  const broken = await startMail(mail.port, [cut.address])
  broken.write('Subject: half\r\n\r\nhalf a mail\r\n')
  await broken[Symbol.asyncDispose]()
  const hasty = await startMail(mail.port, [whole.address])
  t.is(await hasty.command('Subject: whole\r\n\r\n.'), '250 OK')
  await hasty[Symbol.asyncDispose]()
  await mail.pings(whole.id, 1)
  const [row] = await mail.db('checks').select('n_pings').where({ id: cut.id })
  t.is(Number(row?.n_pings), 0)
})

test('the listener greets as the domain of its addresses, not as the machine', async (t) => {
  await using session = await openSmtpSession(mail.port)
  t.regex(await session.command('EHLO client.example.org'), /^250-hc\.example\.org[ \r\n]/)
  t.regex(await session.command('QUIT'), /^221/)
})

test('login, encryption that would be none, and old tricks are not offered', async (t) => {
  await using session = await openSmtpSession(mail.port)
  t.notRegex(await session.command('EHLO again.example.org'), /AUTH|STARTTLS|XCLIENT/)
  for (const command of ['AUTH PLAIN AAAA', 'STARTTLS', 'WIZ x', 'SHELL ls'])
    t.regex(await session.command(command), /^500/)
  t.regex(await session.command(`MAIL FROM:<${'a'.repeat(5_000)}@example.org>`), /^421/)
})
