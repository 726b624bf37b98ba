import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { CheckSettings } from '#shared/monitoring/checks/fields.ts'
import { eventually } from '../../support/eventually.ts'
import { MAIL_DOMAIN, type MailListener } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'

interface RecordedPing {
  n: number
  type: string
  scheme: string
  remoteAddr: string | null
  method: string
  ua: string
  rid: string | null
  body: Buffer | null
  subject: string | null
}

/** The product with its mail listener, and a project. */
export interface MailProduct extends MailListener {
  projectId: number
  pingKey: string
  addCheck(settings?: Partial<CheckSettings>): Promise<{ id: number; uuid: string; address: string }>
  /** the pings of a check, once there are `count` of them */
  pings(checkId: number, count: number): Promise<RecordedPing[]>
  /** rows that hold mails too large for a message */
  waitingMails(): Promise<number>
}

/** Adds a project to a product whose mail listener is open, and helpers that read its pings. */
export async function withMailProject(product: MailListener): Promise<MailProduct> {
  const { deps, db } = product
  const { project, pingKey } = await addProject(deps)
  return Object.assign(product, {
    projectId: project.id,
    pingKey,
    async addCheck(settings: Partial<CheckSettings> = {}) {
      const { id, uuid } = await addCheck(deps, project.id, settings)
      return { id, uuid, address: `${uuid}@${MAIL_DOMAIN}` }
    },
    async pings(checkId: number, count: number) {
      return await eventually(`${count} pings of check ${checkId}`, async () => {
        const rows: RecordedPing[] = await db('pings')
          .select('n', 'type', 'scheme', 'remote_addr as remoteAddr', 'method', 'ua', 'rid', 'body', 'subject')
          .where({ check_id: checkId })
          .orderBy('n')
        return rows.length >= count && rows
      })
    },
    async waitingMails() {
      const [row] = await db('ping_bodies').count({ count: '*' })
      return Number(row?.count)
    },
  })
}

/** A raw SMTP session with exact bytes. */
export interface SmtpSession extends AsyncDisposable {
  socket: Socket
  /** sends bytes as they are */
  write(text: string | Buffer): void
  /** the next reply, all its lines; throws when the server closes instead */
  reply(): Promise<string>
  /** a command with its line end, and the reply */
  command(line: string): Promise<string>
  closed: Promise<unknown>
}

/**
 * @param waitForBanner false to talk before the server does
 * @param localAddress where it comes from, any address of the loopback
 */
export async function openSmtpSession(
  port: number,
  waitForBanner = true,
  localAddress = '127.0.0.1',
): Promise<SmtpSession> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  const closed = once(socket, 'close')
  socket.on('error', () => undefined)
  let received = ''
  let changed = Promise.withResolvers<void>()
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString()
    changed.resolve()
  })
  socket.once('close', () => changed.resolve())
  await once(socket, 'connect')

  const session: SmtpSession = {
    socket,
    closed,
    write: (text) => void socket.write(text),
    async reply() {
      for (;;) {
        const [whole] = /^(?:\d{3}-[^\n]*\n)*\d{3} [^\n]*\n/.exec(received) ?? []
        if (whole !== undefined) {
          received = received.slice(whole.length)
          return whole.trim()
        }
        if (socket.closed) throw new Error('the server closed the connection')
        await changed.promise
        changed = Promise.withResolvers<void>()
      }
    },
    async command(line) {
      socket.write(`${line}\r\n`)
      return await session.reply()
    },
    async [Symbol.asyncDispose]() {
      socket.destroy()
      await closed
    },
  }
  if (waitForBanner) {
    const banner = await session.reply()
    if (!banner.startsWith('220')) throw new Error(`greeted with: ${banner}`)
    await session.command('EHLO client.example.org')
  }
  return session
}

/** A session in which a mail for these recipients may follow `DATA`. */
export async function startMail(
  port: number,
  recipients: readonly string[],
  localAddress?: string,
): Promise<SmtpSession> {
  const session = await openSmtpSession(port, true, localAddress)
  await session.command('MAIL FROM:<job@example.org>')
  for (const recipient of recipients) await session.command(`RCPT TO:<${recipient}>`)
  await session.command('DATA')
  return session
}
