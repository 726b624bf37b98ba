import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'

const MAX_MAILS = 200
const caught: CaughtMail[] = []
const host = process.env.HOST ?? '127.0.0.1'

// Accepts all mail and keeps the newest in memory, to show the mails of a trial installation.
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onAuth: (_auth, _session, done) => done(null, { user: 'any' }),
  onData: (stream, session, done) => {
    buffer(stream)
      .then((raw) => PostalMime.parse(raw))
      .then(({ subject = '', text = '', html = '' }) => {
        const to = session.envelope.rcptTo.map(({ address }) => address)
        const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : ''
        caught.unshift({ at: new Date().toISOString(), from, to, subject, text, html })
        caught.splice(MAX_MAILS)
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

export type CaughtMail = { at: string; from: string; to: string[]; subject: string; text: string; html: string }

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** The page runs no scripts. The HTML of a mail is in a frame without scripts or external content. */
export const MAIL_PAGE_POLICY = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'; form-action 'none'; base-uri 'none'`

const STYLE = `
:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; }
body { max-width: 760px; margin: 24px auto; padding: 0 16px; }
.warning { border: 1px solid #c98a1b; border-radius: 8px; padding: 8px 12px; }
details { border: 1px solid #8885; border-radius: 8px; margin: 8px 0; }
summary { cursor: pointer; padding: 10px 12px; }
summary small { display: block; opacity: .75; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 0 12px; }
iframe { width: 100%; height: 560px; border: 0; border-top: 1px solid #8885; background: #fff; }`

/** Shows the newest mail first and open. Links in texts are clickable. */
export function mailPage(mails: readonly CaughtMail[]): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Caught mail (${mails.length})</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style>
<h1>Caught mail</h1>
<p class="warning">For trials only: anyone who opens this page can read every mail below, links for signing in and for new
passwords included. For more than a trial set <code>SMTP_URL</code> to a mail server of your own.</p>
${mails.map(mailHtml).join('\n') || '<p>No mail yet. Reload this page after a mail was sent.</p>'}</html>`
}

function mailHtml({ at, from, to, subject, text, html }: CaughtMail, index: number): string {
  const frame = html === '' ? '' : `<iframe sandbox="" title="Rendered mail" srcdoc="${escaped(html)}"></iframe>`
  return `<details${index === 0 ? ' open' : ''}><summary><b>${escaped(subject)}</b>
<small>to ${escaped(to.join(', '))}, from ${escaped(from)}, ${escaped(at)}</small></summary>
<pre>${linked(text.trim())}</pre>${frame}</details>`
}

function linked(text: string): string {
  return escaped(text).replace(/https?:\/\/[^\s<>&"']+(?:&#38;[^\s<>&"']+)*/g, (url) => `<a href="${url}">${url}</a>`)
}
