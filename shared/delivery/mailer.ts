import { createTransport, type NodemailerError } from 'nodemailer'

export interface OutgoingMail {
  /** without angle brackets; the same at every attempt, so that mail servers can drop repetitions */
  messageId: string
  to: string
  /** who is told that it could not be delivered; the sender's address when absent */
  envelopeFrom?: string
  subject: string
  text: string
  html: string
  headers: Readonly<Record<string, string>>
  attachments: readonly { filename: string; contentType: string; content: Buffer }[]
}

export interface MailerOptions {
  /** `SMTP_URL` */
  url: string
  /** `MAIL_FROM` */
  from: string
  /** connections kept to the server; 5 when absent */
  maxConnections?: number
  /** for connecting and for the greeting, each; 5 s when absent */
  connectTimeoutMs?: number
  /** for a server that falls silent; 15 s when absent */
  silenceTimeoutMs?: number
}

export interface Mailer extends AsyncDisposable {
  /** Resolves when the server has taken the message over. @throws MailError */
  send(mail: OutgoingMail): Promise<void>
}

/** The server did not take a message. `message` may be shown; `cause` holds what the server said. */
export class MailError extends Error {
  override readonly name = 'MailError'
  /**
   * The part that the server will never accept: the recipient (a 5xx reply to RCPT TO), or this message (a 5xx reply to DATA or
   * to the end of the data). Null if a retry may help, and for everything that the operator must fix.
   */
  readonly refused: 'recipient' | 'message' | null
  readonly failure: 'dns' | 'connect' | 'tls' | 'timeout' | 'refused' | 'protocol'
  constructor(message: string, details: Pick<MailError, 'refused' | 'failure'> & ErrorOptions) {
    super(message, details)
    this.refused = details.refused
    this.failure = details.failure
  }
}

/** Octets of a line without its CRLF (RFC 5322 2.1.1). */
const MAX_LINE_BYTES = 998
/** The library folds headers at blanks only, and a name may have none. */
const MAX_SUBJECT_CHARS = 250

/** Outgoing mail through one server with kept connections. File and URL access of the library are off. */
export function createMailer(options: MailerOptions): Mailer {
  const connectTimeoutMs = options.connectTimeoutMs ?? 5_000
  const transport = createTransport({
    pool: true,
    url: options.url,
    maxConnections: options.maxConnections ?? 5,
    // Repetitions are decided by rows; a silent second try here could send twice.
    maxRequeues: 0,
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    dnsTimeout: connectTimeoutMs,
    socketTimeout: options.silenceTimeoutMs ?? 15_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  // A connection that breaks while it is idle concerns no message.
  transport.on('error', () => undefined)
  return {
    async send(mail) {
      try {
        await transport.sendMail({
          from: options.from,
          to: { name: '', address: mail.to },
          ...(mail.envelopeFrom !== undefined && { envelope: { from: mail.envelopeFrom, to: mail.to } }),
          subject: fittingSubject(mail.subject),
          text: mail.text,
          html: mail.html,
          messageId: `<${mail.messageId}>`,
          headers: { ...mail.headers },
          attachments: mail.attachments.map(fittingAttachment),
        })
      } catch (error) {
        throw toMailError(error)
      }
    },
    async [Symbol.asyncDispose]() {
      transport.close()
    },
  }
}

function fittingSubject(subject: string): string {
  const chars = [...subject]
  return chars.length <= MAX_SUBJECT_CHARS ? subject : `${chars.slice(0, MAX_SUBJECT_CHARS - 1).join('')}…`
}

/**
 * An attached message goes out as it is, because MIME allows no other encoding of it (RFC 2046 5.2.1). If it could not
 * be transmitted so, it is attached as a file, which the library encodes in base64.
 */
function fittingAttachment(attachment: OutgoingMail['attachments'][number]): OutgoingMail['attachments'][number] {
  const isMessage = attachment.contentType === 'message/rfc822'
  if (!isMessage || isTransmittable(attachment.content)) return { ...attachment }
  return { ...attachment, contentType: 'application/octet-stream' }
}

function isTransmittable(content: Buffer): boolean {
  // Neither may be in a message (RFC 5322 2.3), and servers change or refuse them.
  if (/\0|\r(?!\n)/.test(content.toString('latin1'))) return false
  for (let start = 0; start < content.length; ) {
    const feed = content.indexOf('\n', start)
    const end = feed === -1 ? content.length : feed
    if (end - start > MAX_LINE_BYTES) return false
    start = end + 1
  }
  return true
}

function toMailError(error: unknown): MailError {
  if (!(error instanceof Error)) return new MailError('Sending failed', { refused: null, failure: 'protocol' })
  // every error of the library has these members or lacks them; none is trusted to be there
  const { code, command, responseCode, originalCode, permanent } = error as NodemailerError
  if (responseCode !== undefined) {
    return new MailError(`Mail server answered ${responseCode}`, {
      refused: permanent === true ? refusedAt(command) : null,
      failure: 'refused',
      cause: error,
    })
  }
  const [text, failure] = transportFailure(code, originalCode)
  return new MailError(text, { refused: null, failure, cause: error })
}

/** @param command with this reply; the library names DATA for the reply to the end of the data, too */
function refusedAt(command: string | undefined): MailError['refused'] {
  if (command === 'RCPT TO') return 'recipient'
  return command === 'DATA' ? 'message' : null
}

function transportFailure(code = '', originalCode = ''): [string, MailError['failure']] {
  if (code === 'ETIMEDOUT' || originalCode === 'ETIMEDOUT')
    return ['Connection to the mail server timed out', 'timeout']
  if (code === 'EDNS') return ['Could not resolve the mail server', 'dns']
  if (code === 'ETLS') return ['TLS handshake with the mail server failed', 'tls']
  if (code === 'ESOCKET' || code === 'ECONNECTION') return ['Connection to the mail server failed', 'connect']
  return ['Sending failed', 'protocol']
}
