import type { NodemailerError } from 'nodemailer'

export interface OutgoingMail {
  /** without angle brackets; the same for each attempt, so that mail servers can drop duplicates */
  messageId: string
  to: string
  envelopeFrom?: string
  subject: string
  text: string
  html: string
  headers: Readonly<Record<string, string>>
  attachments: readonly { filename: string; contentType: string; content: Buffer }[]
}

export interface MailerOptions {
  url: string
  from: string
  maxConnections?: number
  /** for the connection and for the greeting, each; default 5 s */
  connectTimeoutMs?: number
  /** socket inactivity timeout; default 15 s */
  silenceTimeoutMs?: number
}

export interface Mailer extends AsyncDisposable {
  /** Resolves when the server has accepted it. @throws MailError */
  send(mail: OutgoingMail): Promise<void>
}

/** `message` may be shown to users; `cause` contains the server's reply. */
export class MailError extends Error {
  override readonly name = 'MailError'
  /** rejected permanently; null if a retry may help, or the operator must fix the cause */
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
/** nodemailer folds headers only at spaces, and the name of a check may contain none. */
const MAX_SUBJECT_CHARS = 250

/** Pools connections to one server. File and URL access of nodemailer are off. */
export function createMailer(options: MailerOptions): Mailer {
  const connectTimeoutMs = options.connectTimeoutMs ?? 5_000
  // Loaded by the first mail.
  const open = async () => {
    const { createTransport } = await import('nodemailer')
    const transport = createTransport({
      pool: true,
      url: options.url,
      maxConnections: options.maxConnections ?? 5,
      // Retries are scheduled in rows; a second attempt here could send a mail twice.
      maxRequeues: 0,
      connectionTimeout: connectTimeoutMs,
      greetingTimeout: connectTimeoutMs,
      dnsTimeout: connectTimeoutMs,
      socketTimeout: options.silenceTimeoutMs ?? 15_000,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    transport.on('error', () => undefined)
    return transport
  }
  let opened: ReturnType<typeof open> | undefined
  return {
    async send(mail) {
      try {
        opened ??= open()
        const transport = await opened
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
      ;(await opened)?.close()
    },
  }
}

function fittingSubject(subject: string): string {
  const chars = [...subject]
  return chars.length <= MAX_SUBJECT_CHARS ? subject : `${chars.slice(0, MAX_SUBJECT_CHARS - 1).join('')}…`
}

/** Becomes a base64 file if it cannot be sent unchanged (RFC 2046 5.2.1). */
function fittingAttachment(attachment: OutgoingMail['attachments'][number]): OutgoingMail['attachments'][number] {
  const isMessage = attachment.contentType === 'message/rfc822'
  if (!isMessage || isTransmittable(attachment.content)) return { ...attachment }
  return { ...attachment, contentType: 'application/octet-stream' }
}

function isTransmittable(content: Buffer): boolean {
  // RFC 5322 2.3 forbids both, and servers change or reject them.
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
  // Errors of nodemailer may lack each of these members.
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

/** nodemailer also reports the command DATA if the server refuses the message after its last line. */
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
