import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { MAIL_DOMAIN, openProduct } from '../../support/product.ts'
import { startMail, withMailProject } from './mail-product.ts'

const run = promisify(execFile)

test('the SMTP process takes mail, and a signal ends it when the mail under way is answered', async (t) => {
  await using mail = await withMailProject(await openProduct({ listener: 'mail' }))
  await mail.workers(['ping-evaluator'])
  const check = await mail.addCheck()
  const smtp = spawn(process.execPath, ['--import', 'tsx', 'ingress/smtp.ts'], {
    cwd: join(import.meta.dirname, '../../..'),
    env: { PATH: process.env.PATH ?? '', ...mail.env, LOG_LEVEL: 'info' },
  })
  t.teardown(() => smtp.kill('SIGKILL'))
  const exited = once(smtp, 'exit')
  let output = ''
  smtp.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const port = await eventually('the process to listen', () => {
    const found = /"port":(\d+)[^\n]*smtp\.listening/.exec(output)
    return found ? Number(found[1]) : undefined
  })
  // The port answers before the broker does: until then senders get a temporary refusal.
  await eventually('a mail to be accepted', async () => {
    await using first = await startMail(port, [check.address])
    return (await first.command('Subject: first\r\n\r\n.')) === '250 OK'
  })
  await using session = await startMail(port, [check.address])
  session.write('Subject: last\r\n\r\n')
  smtp.kill('SIGTERM')
  await eventually('the process to stop', () => output.includes('process.stopping'))
  session.write('words\r\n.\r\n')
  t.is(await session.reply(), '250 OK')
  t.deepEqual(await exited, [0, null])
  await mail.pings(check.id, 2)
})

test('swaks delivers a mail', async (t) => {
  const version = await run('swaks', ['--version']).catch(() => null)
  if (version === null) {
    t.pass('swaks is not installed here (Debian package swaks): not tried')
    return
  }
  await using mail = await withMailProject(await openProduct({ listener: 'mail' }))
  await mail.workers(['ping-evaluator'])
  const check = await mail.addCheck({ filterSubject: true, successKw: 'finished' })
  const target = ['--server', '127.0.0.1', '--port', String(mail.port), '--from', 'nas@example.org', '--pipeline']
  const message = ['--header', 'Subject: backup finished', '--body', 'All is well.']
  const { stdout } = await run('swaks', [...target, '--to', check.address, ...message])
  t.true(stdout.includes('250 OK'))
  const [ping] = await mail.pings(check.id, 1)
  t.like(ping, { type: 'success', ua: 'Email from nas@example.org' })

  const relay = await run('swaks', [...target, '--to', 'someone@example.com']).catch((error: unknown) => error)
  t.true(relay instanceof Error && 'stdout' in relay && String(relay.stdout).includes('550 5.1.1 Recipient rejected'))
  t.true(check.address.endsWith(MAIL_DOMAIN))
})
