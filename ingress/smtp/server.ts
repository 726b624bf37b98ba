import type { Readable } from 'node:stream'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'
import { UnavailableError } from '#shared/errors.ts'
import { type MailTarget, parseMailAddress } from '#shared/monitoring/pings/url.ts'
import { type ConnectionCap, createConnectionCap } from '#shared/platform/http/connection-cap.ts'
import {
  addressBucket,
  isTrustedProxy,
  normalizeAddress,
  type TrustedProxies,
} from '#shared/platform/http/remote-addr.ts'
import { describeError, type Log } from '#shared/platform/process/log.ts'
import { createTokenBuckets } from '#shared/platform/process/token-buckets.ts'
import type { MailListener } from './accept.ts'
import { PingConnection } from './connection.ts'
import { createMailReceiver } from './receive.ts'

/** docs/spec/monitoring.md#mail-ping-record; announced as SIZE, larger mails get 552. */
const MAX_MAIL_BYTES = 33_554_432
const BUFFER_BYTES = 256 * 1024 * 1024
/** Two of the largest mails. */
const BUFFER_PER_ADDRESS = 2 * MAX_MAIL_BYTES
/** The minimum that RFC 5321, 4.5.3.1.8 requires. */
const MAX_RECIPIENTS = 100
const MAX_CLIENTS = 1_000
const IDLE_MS = 60_000
const MAX_COMMAND_BYTES = 4_096
/** Maximum time for mails in progress at shutdown. */
const CLOSE_MS = 5_000

const LIBRARY = {
  size: MAX_MAIL_BYTES,
  rejectOversized: true,
  maxClients: MAX_CLIENTS,
  maxCommandLength: MAX_COMMAND_BYTES,
  socketTimeout: IDLE_MS,
  closeTimeout: CLOSE_MS,
  banner: 'Signalbox',
  authOptional: true,
  // Machines and old programs send invalid sender addresses.
  lenientAddressParsing: true,
  disableReverseLookup: true,
  minVersion: 'TLSv1.2',
  logger: false,
} as const

export interface MailServer extends AsyncDisposable {
  port: number
}

interface MailServerOptions {
  port: number
  host: string
  domain: string
  /** null: STARTTLS is not offered, because the library would use its own public certificate */
  tls: { cert: string; key: string } | null
  log: Log
  /** per address; 0 disables a limit */
  connectionsPerAddress: number
  mailsPerAddress: number
  /** relays, which many senders share */
  trusted: TrustedProxies
}

/**
 * SMTP server for e-mail pings (docs/spec/monitoring.md#email-pings). It relays nothing. A mail gets 250 after the
 * broker confirmed its pings, 451 otherwise.
 */
export async function openMailServer(options: MailServerOptions, accept: MailListener): Promise<MailServer> {
  const { domain, log, trusted } = options
  const senders = createTokenBuckets(options.mailsPerAddress)
  /** null for a relay */
  const senderOf = ({ remoteAddress }: SMTPServerSession) =>
    isTrustedProxy(remoteAddress, trusted) ? null : addressBucket(remoteAddress)
  const recipients = new WeakMap<SMTPServerSession, Map<string, MailTarget>>()
  const processing = new Map<SMTPServerSession, Promise<void>>()
  const receive = createMailReceiver({
    maxBytes: MAX_MAIL_BYTES,
    bufferBytes: BUFFER_BYTES,
    bufferPerSender: BUFFER_PER_ADDRESS,
  })

  const server = new PingMailServer(
    {
      ...LIBRARY,
      // Otherwise the greeting contains the name of the machine.
      name: domain,
      disabledCommands: ['AUTH', 'XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL', ...(options.tls ? [] : ['STARTTLS'])],
      ...options.tls,
      onMailFrom(_address, session, callback) {
        const sender = senderOf(session)
        const isOver = sender !== null && !senders.take(sender, performance.now()).granted
        recipients.set(session, new Map())
        callback(isOver ? reply(450, '4.7.1 Too many mails from your address, try again later') : null)
      },
      onRcptTo({ address }, session, callback) {
        callback(addRecipient(recipients.get(session) ?? new Map(), address, domain))
      },
      onData(stream, session, callback) {
        const work = take(stream, session).then(
          (refusal) => callback(refusal, 'OK'),
          (error: unknown) => {
            if (stream.errored) return
            if (!(error instanceof UnavailableError)) log.error(describeError(error), 'mail.failed')
            callback(reply(451, '4.3.0 Not accepted, try again later'))
          },
        )
        processing.set(
          session,
          work.finally(() => processing.delete(session)),
        )
      },
    },
    {
      isProcessing: (session) => processing.has(session),
      connections: createConnectionCap(options.connectionsPerAddress, trusted),
    },
  )

  /** @returns the refusal; null after the broker confirmed the pings */
  async function take(stream: Readable, session: SMTPServerSession): Promise<Error | null> {
    const { mailFrom } = session.envelope
    const targets = [...(recipients.get(session)?.values() ?? [])]
    const received = await receive(stream, senderOf(session))
    // The library answers 552.
    if (received.outcome === 'too-large') return null
    if (received.outcome !== 'whole') return reply(452, '4.3.1 Insufficient system storage, try again later')
    try {
      await accept({
        targets,
        sender: mailFrom ? mailFrom.address : '',
        remoteAddr: normalizeAddress(session.remoteAddress),
        raw: received.raw,
      })
      return null
    } finally {
      received.release()
    }
  }

  const port = await listen(server, options)
  // Senders that disconnect are not errors of this process.
  server.on('error', (error: Error) => log.debug(describeError(error), 'mail.connection-failed'))
  return {
    port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(resolve))
      for (const connection of [...server.connections]) {
        if (!connection.session.envelope?.mailFrom) connection.send(421, 'Server shutting down')
      }
      await closed
      await Promise.allSettled(processing.values())
    },
  }
}

async function listen(server: SMTPServer, { port, host }: { port: number; host: string }): Promise<number> {
  const listener = server.listen(port, host)
  await new Promise<void>((resolve, reject) => {
    listener.once('listening', resolve)
    server.once('error', reject)
  })
  server.removeAllListeners('error')
  const address = listener.address()
  return typeof address === 'object' && address !== null ? address.port : port
}

/** @returns the refusal; null if the recipient was added to the mail */
function addRecipient(known: Map<string, MailTarget>, address: string, domain: string): Error | null {
  const target = parseMailAddress(address, domain)
  if (target === 'foreign') return reply(550, '5.1.1 Recipient rejected')
  if (target === 'invalid') return reply(550, '5.1.1 Invalid mailbox')
  // A repeated recipient counts once.
  const key = target.form === 'uuid' ? target.uuid : `${target.pingKey}+${target.slug}`
  if (!known.has(key) && known.size >= MAX_RECIPIENTS) return reply(452, '4.5.3 Too many recipients')
  known.set(key, target)
  return null
}

/** The library sends the text of an error with its code. */
function reply(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode })
}

interface ServerParts {
  isProcessing(session: SMTPServerSession): boolean
  connections: ConnectionCap
}

class PingMailServer extends SMTPServer {
  readonly #parts: ServerParts

  constructor(options: ConstructorParameters<typeof SMTPServer>[0], parts: ServerParts) {
    super(options)
    this.#parts = parts
  }

  override connect(...[socket, options]: Parameters<SMTPServer['connect']>): void {
    if (!this.#parts.connections.admit(socket)) {
      socket.end('421 4.7.0 Too many connections from your address\r\n', () => socket.destroy())
      return
    }
    const connection = new PingConnection(this, socket, options, this.#parts.isProcessing)
    this.connections.add(connection)
    connection.on('error', (error: Error) => this.emit('error', error))
    connection.init()
  }
}
