import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { waitUntil } from './recorded.ts'

export interface RecordedMail {
  from: string
  to: string[]
  /** the transmitted message with its headers */
  raw: Buffer
}

/** A refusal with its SMTP code and the refused command. */
export interface MailRefusal {
  code: number
  at: 'MAIL' | 'RCPT' | 'DATA'
  text?: string
}

export interface SmtpSink extends AsyncDisposable {
  /** for `SMTP_URL` */
  readonly url: string
  readonly port: number
  readonly mails: RecordedMail[]
  /** null accepts; called once per message, at MAIL; refused messages are not recorded */
  refuse: (attempt: number) => MailRefusal | null
  waitFor(wanted: number | ((mail: RecordedMail) => boolean), deadlineMs?: number): Promise<RecordedMail>
}

/** Starts an SMTP server on loopback that records messages. */
export async function openSmtpSink(options: { port?: number } = {}): Promise<SmtpSink> {
  const mails: RecordedMail[] = []
  const refusals = new Map<string, MailRefusal | null>()
  let attempts = 0

  const refusalAt = (sessionId: string, at: MailRefusal['at']): Error | null => {
    const refusal = refusals.get(sessionId)
    if (refusal?.at !== at) return null
    return Object.assign(new Error(refusal.text ?? `refused with ${refusal.code}`), { responseCode: refusal.code })
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    disableReverseLookup: true,
    onMailFrom(_address, session, callback) {
      attempts += 1
      refusals.set(session.id, sink.refuse(attempts))
      callback(refusalAt(session.id, 'MAIL'))
    },
    onRcptTo(_address, session, callback) {
      callback(refusalAt(session.id, 'RCPT'))
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.once('end', () => {
        const refusal = refusalAt(session.id, 'DATA')
        if (refusal) return callback(refusal)
        const { mailFrom, rcptTo } = session.envelope
        mails.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map((recipient) => recipient.address),
          raw: Buffer.concat(chunks),
        })
        callback(null)
      })
    },
  })
  // Tests also drop connections, which must not end the sink.
  server.on('error', () => undefined)
  const listener = server.listen(options.port ?? 0, '127.0.0.1')
  await once(listener, 'listening')
  // listening on TCP always yields an AddressInfo
  const { port } = listener.address() as AddressInfo

  const sink: SmtpSink = {
    url: `smtp://127.0.0.1:${port}`,
    port,
    mails,
    refuse: () => null,
    async waitFor(wanted, deadlineMs) {
      return waitUntil(mails, wanted, `smtp sink on port ${port}`, deadlineMs)
    },
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
  return sink
}
