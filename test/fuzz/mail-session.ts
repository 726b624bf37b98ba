import type { Random } from '../support/random.ts'
import { garbled, hostileText } from './hostile.ts'

/** Returns a complete SMTP session, which is sent at once before the replies are read. */
export function makeMailSession(random: Random, address: string): { bytes: Buffer; label: string } {
  const recipient = random.oneIn(3) ? oneLine(hostileText(random)) : address
  const lines = [
    random.pick(['EHLO client.example.org', `HELO ${oneLine(hostileText(random))}`, 'NOOP']),
    `MAIL FROM:<${random.oneIn(3) ? oneLine(hostileText(random)) : 'job@example.org'}>${random.oneIn(5) ? ' SIZE=99999999999' : ''}`,
    `RCPT TO:<${recipient}>`,
    ...(random.oneIn(3) ? [`RCPT TO:<${address}>`] : []),
    random.oneIn(15) ? `BDAT ${random.pick(['5', '-1', 'LAST'])}` : 'DATA',
    ...mailOf(random),
    '.',
    'QUIT',
  ]
  if (random.oneIn(6)) lines.splice(random.int(lines.length), 1 + random.int(2))
  if (random.oneIn(6))
    lines.splice(
      random.int(lines.length),
      0,
      random.pick(['RSET', 'STARTTLS', 'AUTH PLAIN AA==', 'VRFY x', 'QUIT', 'XYZZY']),
    )
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n`)
  return { bytes: random.oneIn(5) ? garbled(random, bytes) : bytes, label: 'SMTP session' }
}

function mailOf(random: Random): string[] {
  const boundary = random.pick(['b', '', '"', 'x'.repeat(100)])
  const parts = random.pick([0, 1, 3, 60])
  const type = random.pick([
    'text/plain',
    'text/html; charset=utf-7',
    `multipart/mixed; boundary="${boundary}"`,
    'message/rfc822',
    'x',
  ])
  const part = [`--${boundary}`, `Content-Type: ${type}`, '', oneLine(hostileText(random)).slice(0, 900)]
  return [
    `Subject: ${random.pick(['Success', '=?utf-8?b?////?=', '=?x?q?=00?=', oneLine(hostileText(random)).slice(0, 900)])}`,
    `Content-Type: ${type}`,
    `Content-Transfer-Encoding: ${random.pick(['7bit', 'base64', 'quoted-printable', 'none'])}`,
    ...Array.from({ length: random.pick([0, 1, 200]) }, () => `X-A: ${oneLine(hostileText(random)).slice(0, 60)}`),
    '',
    ...Array.from({ length: parts }, () => part).flat(),
    random.pick(['done', '..', '=', '====', oneLine(hostileText(random)).slice(0, 900)]),
  ]
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]/g, ' ').toWellFormed()
}
