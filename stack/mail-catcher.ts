import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'

/** A caught mail, as its page and `/messages` show it. */
type CaughtMail = { at: string; from: string; to: string[]; subject: string; text: string }

const kept = 200
const WARNING = `For trials only: whoever opens this page reads every mail below, links for signing in and for new
passwords included. For more than a trial set SMTP_URL to a mail server of your own.
${'='.repeat(60)}
`
const caught: CaughtMail[] = []
const host = process.env.HOST ?? '127.0.0.1'

// Takes any mail from anybody and keeps the newest in memory: for looking at what a trial installation would send.
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onAuth: (_auth, _session, done) => done(null, { user: 'anybody' }),
  onData: (stream, session, done) => {
    buffer(stream)
      .then((raw) => PostalMime.parse(raw))
      .then(({ subject = '', text = '', html = '' }) => {
        const to = session.envelope.rcptTo.map(({ address }) => address)
        const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : ''
        caught.unshift({ at: new Date().toISOString(), from, to, subject, text: text || html })
        caught.splice(kept)
        done()
      })
      .catch(done)
  },
})
smtp.listen(Number(process.env.MAIL_SMTP_PORT ?? 1025), host)

const http = createServer((request, response) => {
  if (request.url === '/livez') return void response.end('OK')
  if (request.url === '/messages') {
    return void response.setHeader('Content-Type', 'application/json').end(JSON.stringify(caught))
  }
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.write(WARNING)
  response.end(caught.map(asText).join('\n\n') || 'No mail yet.\n')
})
http.listen(Number(process.env.MAIL_HTTP_PORT ?? 8025), host)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    smtp.close()
    http.close()
    http.closeAllConnections()
  })
}

function asText({ at, from, to, subject, text }: CaughtMail): string {
  return `${at}  from ${from} to ${to.join(', ')}\n${subject}\n\n${text.trim()}\n${'-'.repeat(60)}`
}
