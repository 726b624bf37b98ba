import type { Socket } from 'node:net'
import type { SMTPServer, SMTPServerSession } from 'smtp-server'
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'

/** Longest life of a connection: also a sender that keeps it busy with a byte now and then comes to its end. */
const LIFETIME_MS = 10 * 60_000
/** When it is due while a mail is being decided on, the answer goes first. */
const GRACE_MS = 10_000
/** Recipients refused on one connection, before it is taken for somebody who tries addresses. */
const MAX_REFUSALS = 100
const NO_DOMAIN = /^RCPT TO:\s*<[^<>@]+>/i

/** What the library leaves to be settled per connection: its wording, its lifetime, and mailboxes without a domain. */
export class PingConnection extends SMTPConnection {
  #refusals = 0

  constructor(
    server: SMTPServer,
    socket: Socket,
    options: SMTPConnectionOptions | null | undefined,
    isDeciding: (session: SMTPServerSession) => boolean,
  ) {
    super(server, socket, options)
    const end = () => {
      if (isDeciding(this.session)) timer = setTimeout(end, GRACE_MS).unref()
      else this.send(421, 'The connection was open for too long')
    }
    let timer = setTimeout(end, LIFETIME_MS).unref()
    socket.once('close', () => clearTimeout(timer))
  }

  /** Accepted senders and recipients are answered `250 OK`. */
  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    const isAccepted = context === 'MAIL_FROM_OK' || context === 'RCPT_TO_OK'
    super.send(code, isAccepted ? 'OK' : data, context)
    if (code !== 550) return
    this.#refusals += 1
    if (this.#refusals === MAX_REFUSALS) super.send(421, 'Too many rejected recipients')
  }

  /** A mailbox without `@` is no address of ours, and no syntax error either. */
  override handler_RCPT(command: Buffer, callback: () => void): void {
    if (this.session.envelope.mailFrom && NO_DOMAIN.test(command.toString())) {
      this.send(550, '5.1.1 Recipient rejected')
      callback()
      return
    }
    super.handler_RCPT(command, callback)
  }
}
