import { once } from 'node:events'
import { connect } from 'node:tls'
import test from 'ava'
import { MAIL_DOMAIN, openProduct } from '../../support/product.ts'
import { sinkCertificate, sinkKey } from '../../support/sink-certificate.ts'
import { openSmtpSession, withMailProject } from './mail-product.ts'

test('with a certificate the listener accepts encrypted mail, and announces only its domain', async (t) => {
  await using mail = await withMailProject(
    await openProduct({ listener: 'mail', env: { SMTP_TLS_CERT: sinkCertificate, SMTP_TLS_KEY: sinkKey } }),
  )
  await mail.workers(['ping-evaluator'])
  const check = await mail.addCheck()
  await using session = await openSmtpSession(mail.port)
  t.regex(await session.command('EHLO client.example.org'), new RegExp(`^250-${MAIL_DOMAIN}[\\s\\S]*STARTTLS`))
  t.regex(await session.command('STARTTLS'), /^220/)
  session.socket.removeAllListeners('data')
  const encrypted = connect({ socket: session.socket, ca: sinkCertificate, servername: 'sink.test' })
  await once(encrypted, 'secureConnect')
  t.true(encrypted.authorized)
  const replies: string[] = []
  for (const line of [
    'EHLO client.example.org',
    'MAIL FROM:<job@example.org>',
    `RCPT TO:<${check.address}>`,
    'DATA',
    'Subject: encrypted\r\n\r\ndone\r\n.',
  ]) {
    encrypted.write(`${line}\r\n`)
    const [reply] = (await once(encrypted, 'data')) as [Buffer]
    replies.push(reply.toString().slice(0, 3))
    if (line.startsWith('EHLO')) t.notRegex(reply.toString(), /STARTTLS/)
  }
  t.deepEqual(replies, ['250', '250', '250', '354', '250'])
  t.is((await mail.pings(check.id, 1)).length, 1)
  encrypted.destroy()
})

test('a certificate without its key, or a key without a certificate, does not start', async (t) => {
  for (const one of [{ SMTP_TLS_CERT: sinkCertificate }, { SMTP_TLS_KEY: sinkKey }]) {
    await t.throwsAsync(openProduct({ listener: 'mail', env: one }), {
      message: /SMTP_TLS_CERT and SMTP_TLS_KEY go together/,
    })
  }
})
