import PostalMime from 'postal-mime'
import { NotFoundError } from '#shared/errors.ts'
import { findPing, type PingDetails } from '#shared/pages/check-log-store.ts'
import { CodeBlock } from '../components/form.tsx'
import { Exact } from '../components/time.tsx'
import type { Context, Pages } from '../context.ts'
import { sendPage } from '../layout.tsx'
import { type CheckWorkspace, openCheck } from '../workspace.ts'
import { pingWords } from './log.tsx'
import { nameOf } from './row.tsx'

/** One ping: what came, from where, and what was in it. */
export function pingPages(pages: Pages): void {
  pages.get('/checks/:check/pings/:n', showPing)
  pages.get('/checks/:check/pings/:n/body', sendBody)
  pages.get('/checks/:check/pings/:n/mail', sendMail)
}

async function openPing(context: Context): Promise<CheckWorkspace & { ping: PingDetails }> {
  const workspace = await openCheck(context, 'view')
  const n = /^\d{1,12}$/.test(context.params.n ?? '') ? Number(context.params.n) : 0
  const isKept = n > workspace.check.nPings - context.deps.config.pingLogLimit
  const ping = isKept ? await findPing(context.deps.db, workspace.check.id, n) : null
  if (!ping) throw new NotFoundError('This ping is not kept, or never came.')
  return { ...workspace, ping }
}

async function showPing(context: Context): Promise<void> {
  const workspace = await openPing(context)
  const { check, project, ping } = workspace
  const path = `/checks/${check.uuid}/pings/${ping.n}`
  const isMail = ping.scheme === 'email'
  const mail = isMail && ping.body ? await parseMail(ping.body) : null
  const facts: [string, string][] = [
    ['Kind', pingWords[ping.type]],
    ['From', ping.remoteAddr ?? 'unknown'],
    ['How', `${ping.scheme} ${ping.method}`.trim()],
    ['Agent', ping.ua || 'none'],
    ['Run id', ping.rid ?? 'none'],
    ['Exit status', ping.exitStatus === null ? 'none' : String(ping.exitStatus)],
    ...(mail
      ? ([
          ['Subject', mail.subject ?? ''],
          ['Sender', mail.from?.address ?? ''],
        ] satisfies [string, string][])
      : []),
  ]
  sendPage(
    context,
    { title: `Ping ${ping.n} · ${nameOf(check)}`, workspace, project, area: 'checks' },
    <>
      <p class="crumb">
        <a href={`/checks/${check.uuid}#log`}>{nameOf(check)}</a>
      </p>
      <h1>Ping #{ping.n}</h1>
      <section class="card">
        <dl class="facts">
          <div>
            <dt>Time</dt>
            <dd>
              <Exact at={ping.at} /> UTC
            </dd>
          </div>
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd class="breakable">{value}</dd>
            </div>
          ))}
        </dl>
      </section>
      {mail && (
        <section class="card" aria-labelledby="mail">
          <h2 id="mail">Mail</h2>
          <iframe class="mail" src={`${path}/mail`} title="The mail as it looks" sandbox="" />
        </section>
      )}
      <section class="card" aria-labelledby="body">
        <div class="card-head">
          <h2 id="body">Body</h2>
          {ping.body && ping.body.length > 0 && (
            <a class="button" href={`${path}/body`} download={isMail ? `ping-${ping.n}.eml` : `ping-${ping.n}.txt`}>
              Download
            </a>
          )}
        </div>
        {ping.body && ping.body.length > 0 ? (
          <CodeBlock text={ping.body.toString('utf8')} label="body of the ping" />
        ) : (
          <p class="muted">Nothing was sent with it.</p>
        )}
      </section>
      <nav class="pager" aria-label="Neighbours">
        {ping.n > 1 && <a href={`/checks/${check.uuid}/pings/${ping.n - 1}`}>Ping #{ping.n - 1}</a>}
        {ping.n < check.nPings && <a href={`/checks/${check.uuid}/pings/${ping.n + 1}`}>Ping #{ping.n + 1}</a>}
      </nav>
    </>,
  )
}

/** The stored bytes, which are somebody else's: no browser may take them for a page. */
async function sendBody(context: Context): Promise<void> {
  const { ping } = await openPing(context)
  if (!ping.body || ping.body.length === 0) throw new NotFoundError('Nothing was sent with this ping.')
  const name = ping.scheme === 'email' ? `ping-${ping.n}.eml` : `ping-${ping.n}.txt`
  context.response
    .set({
      'Content-Type': 'text/plain; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}"`,
      'Content-Security-Policy': `default-src 'none'; sandbox`,
    })
    .end(ping.body)
}

/** The mail as its sender laid it out, in a page that can do nothing: no script, no form, nothing from elsewhere. */
async function sendMail(context: Context): Promise<void> {
  const { ping } = await openPing(context)
  if (ping.scheme !== 'email' || !ping.body) throw new NotFoundError('This ping was no mail.')
  const mail = await parseMail(ping.body)
  const html = mail?.html ?? `<pre>${escapeHtml(mail?.text ?? '')}</pre>`
  context.response
    .set({
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': `sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'`,
      'X-Frame-Options': 'SAMEORIGIN',
    })
    .end(`<!doctype html><meta charset="utf-8"><title>Mail</title>${html}`)
}

async function parseMail(raw: Buffer) {
  try {
    return await PostalMime.parse(raw)
  } catch {
    return null
  }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
