import { once } from 'node:events'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { openProduct } from '../../support/product.ts'
import { type MailProduct, openSmtpSession, type SmtpSession, startMail, withMailProject } from './mail-product.ts'

/** Not 127.0.0.1: a process of another test that looks for a server which has gone comes from there, and may find us. */
const HERE = '127.0.0.4'
const ELSEWHERE = '127.0.0.2'

let mail: MailProduct

test.before(async () => {
  mail = await withMailProject(
    await openProduct({
      listener: 'mail',
      env: {
        TRUSTED_PROXIES: '192.0.2.1',
        SMTP_CONNECTIONS_PER_ADDRESS: '5',
        MAIL_RATE_LIMIT_PER_ADDRESS: '30',
        MAIL_RATE_LIMIT_PER_CHECK: '2',
      },
    }),
  )
  await mail.workers(['ping-evaluator'])
})
test.after.always(async () => await mail?.[Symbol.asyncDispose]())

/** A mail of 18 MB without its end. */
async function leaveUnfinished(address: string, from: string): Promise<SmtpSession> {
  const session = await startMail(mail.port, [address], from)
  const chunk = Buffer.from(`${'x'.repeat(1022)}\r\n`.repeat(1024))
  for (let sent = 0; sent < 18 && !session.socket.destroyed; sent++) {
    if (!session.socket.write(chunk)) await once(session.socket, 'drain')
  }
  return session
}

test.serial('connections of one address are limited, and other addresses are not delayed', async (t) => {
  const open = []
  for (let n = 0; n < 5; n++) open.push(await openSmtpSession(mail.port, true, HERE))
  await using refused = await openSmtpSession(mail.port, false, HERE)
  t.regex(await refused.reply(), /^421 4\.7\.0 Too many connections/)
  await refused.closed
  await using other = await openSmtpSession(mail.port, true, ELSEWHERE)
  t.is(await other.command('NOOP'), '250 OK')
  for (const session of open) await session[Symbol.asyncDispose]()
  // The listener learns a little after their client that they are closed.
  await using again = await eventually('room for another connection', async () => {
    const session = await openSmtpSession(mail.port, false, HERE)
    if ((await session.reply()).startsWith('220')) return session
    await session[Symbol.asyncDispose]()
    return null
  })
  t.is(await again.command('NOOP'), '250 OK')
})

test.serial('unfinished mails of one address leave room for those of others', async (t) => {
  const check = await mail.addCheck()
  await using _first = await leaveUnfinished(check.address, HERE)
  await using _second = await leaveUnfinished(check.address, HERE)
  await using third = await leaveUnfinished(check.address, HERE)
  t.regex(await third.command('.'), /^452 4\.3\.1/)
  await using honest = await startMail(mail.port, [check.address], ELSEWHERE)
  t.is(await honest.command('Subject: honest\r\n\r\n.'), '250 OK')
  const [ping] = await mail.pings(check.id, 1)
  t.is(ping?.remoteAddr, ELSEWHERE)
})

test.serial('beyond its share a check records pings without the mails’ text', async (t) => {
  const check = await mail.addCheck()
  const filtered = await mail.addCheck({ filterBody: true, successKw: 'SUCCESS', failureKw: 'FAILURE' })
  const texts = ['SUCCESS 1', 'FAILURE 2', 'FAILURE 3', 'SUCCESS 4']
  for (const text of texts) {
    await using session = await startMail(mail.port, [check.address, filtered.address], ELSEWHERE)
    t.is(await session.command(`Subject: x\r\n\r\n${text}\r\n.`), '250 OK')
  }
  const pings = await mail.pings(check.id, 4)
  t.deepEqual(
    pings.map(({ body }) => body !== null && body.length > 0),
    [true, true, false, false],
  )
  const types = (await mail.pings(filtered.id, 4)).map(({ type }) => type)
  t.deepEqual(types, ['success', 'fail', 'fail', 'success'], 'keywords are searched all the same')
})

test.serial('an address that sends too many mails gets a temporary refusal, another is served', async (t) => {
  const check = await mail.addCheck()
  await using eager = await openSmtpSession(mail.port, true, '127.0.0.3')
  let refusal = ''
  for (let n = 0; n < 200 && refusal === ''; n++) {
    const answer = await eager.command('MAIL FROM:<a@example.org>')
    if (!answer.startsWith('250')) refusal = answer
    else await eager.command('RSET')
  }
  t.regex(refusal, /^450 4\.7\.1 Too many mails/)
  await using other = await startMail(mail.port, [check.address], ELSEWHERE)
  t.is(await other.command('Subject: x\r\n\r\n.'), '250 OK')
})
