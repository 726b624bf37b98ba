import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { type CaughtMail, MAIL_PAGE_POLICY, mailPage } from './mail-page.ts'

const kept = 200
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
        caught.unshift({ at: new Date().toISOString(), from, to, subject, text, html })
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
  response.setHeader('Content-Type', 'text/html; charset=utf-8').setHeader('Content-Security-Policy', MAIL_PAGE_POLICY)
  response.end(mailPage(caught))
})
http.listen(Number(process.env.MAIL_HTTP_PORT ?? 8025), host)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    smtp.close()
    http.close()
    http.closeAllConnections()
  })
}
