import { NotFoundError } from '#shared/errors.ts'
import { nameOf } from '#shared/monitoring/checks/name.ts'
import { findPing, type PingDetails } from '#shared/monitoring/pages/check-log-store.ts'
import type { Mail } from '#shared/monitoring/pings/mail-text.ts'
import { readBody } from '#shared/monitoring/pings/store.ts'
import { listProjectKeys } from '#shared/monitoring/projects/store.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { sendStream } from '../../text-pieces.ts'
import { CodeBlock } from '../components/form.tsx'
import { Exact } from '../components/time.tsx'
import type { Context, Pages } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { type CheckWorkspace, checkPath, openCheck } from '../frame/workspace.ts'
import { bodyText } from './body-text.ts'
import { ignoredWords, pingWords } from './log.tsx'
import { maskBytes, maskPieces } from './masked-body.ts'

/** Bytes of a body that a page shows. */
const SHOWN_BYTES = 100_000

/** One ping: what came, from where, and what was in it. */
export function pingPages(pages: Pages): void {
  pages.get('/checks/:check/pings/:n', showPing)
  pages.get('/checks/:check/pings/:n/body', sendBody)
  pages.get('/checks/:check/pings/:n/mail', sendMail)
}

interface OpenedPing extends CheckWorkspace {
  ping: PingDetails
  path: string
  /** what takes pings, and is not for this reader */
  secrets: string[]
}

async function openPing(context: Context): Promise<OpenedPing> {
  const workspace = await openCheck(context, 'view')
  const { check, project } = workspace
  const { config, db } = context.deps
  const n = /^\d{1,12}$/.test(context.params.n ?? '') ? Number(context.params.n) : 0
  const ping = n > check.nPings - config.pingLogLimit ? await findPing(db, check.id, n) : null
  if (!ping) throw new NotFoundError('This ping is not kept, or never came.')
  const secrets = may(project.role, 'edit') ? [] : [check.uuid, ...(await pingKeys(context, project.id))]
  const body = ping.body && maskBytes(ping.body, secrets)
  return { ...workspace, path: checkPath(check, project), ping: { ...ping, body }, secrets }
}

async function pingKeys({ deps }: Context, projectId: number): Promise<string[]> {
  const keys = await listProjectKeys(deps.db, projectId)
  return keys.flatMap(({ kind, sealed }) =>
    kind === 'ping' && sealed !== null ? deps.secrets.open('ping-key', sealed) : [],
  )
}

async function showPing(context: Context): Promise<void> {
  const workspace = await openPing(context)
  const { check, project, ping } = workspace
  const path = `${workspace.path}/pings/${ping.n}`
  const isMail = ping.scheme === 'email'
  const mail = await readPingMail(context, ping)
  const facts: [string, string][] = [
    ['Kind', ping.ignored === null ? pingWords[ping.type] : `ignored: ${ignoredWords[ping.ignored]}`],
    ['From', ping.remoteAddr ?? 'unknown'],
    ['How', `${ping.scheme} ${ping.method}`.trim()],
    ...(ping.ua ? ([['Agent', ping.ua]] satisfies [string, string][]) : []),
    ...(ping.rid ? ([['Run id', ping.rid]] satisfies [string, string][]) : []),
    ...(ping.exitStatus === null ? [] : ([['Exit status', String(ping.exitStatus)]] satisfies [string, string][])),
    ...(mail
      ? ([
          ['Subject', mail.subject],
          ['Sender', mail.sender],
        ] satisfies [string, string][])
      : []),
  ]
  sendPage(
    context,
    { title: `Ping ${ping.n} · ${nameOf(check)}`, workspace, project, area: 'checks' },
    <>
      <p class="crumb">
        <a href={`${workspace.path}#log`}>{nameOf(check)}</a>
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
          {ping.body && ping.bodyBytes > 0 && (
            <a class="button" href={`${path}/body`} download={isMail ? `ping-${ping.n}.eml` : `ping-${ping.n}.txt`}>
              Download
            </a>
          )}
        </div>
        {ping.body && ping.bodyBytes > SHOWN_BYTES && (
          <p class="muted">
            The first {SHOWN_BYTES.toLocaleString('en')} of {ping.bodyBytes.toLocaleString('en')} bytes. The download
            has them all.
          </p>
        )}
        {ping.body && ping.bodyBytes > 0 ? (
          <CodeBlock text={bodyText(ping.body.subarray(0, SHOWN_BYTES))} label="body of the ping" />
        ) : (
          <p class="muted">Nothing was sent with it.</p>
        )}
      </section>
      <nav class="pager" aria-label="Neighbours">
        {ping.n > 1 && <a href={`${workspace.path}/pings/${ping.n - 1}`}>Ping #{ping.n - 1}</a>}
        {ping.n < check.nPings && <a href={`${workspace.path}/pings/${ping.n + 1}`}>Ping #{ping.n + 1}</a>}
      </nav>
    </>,
  )
}

/** The stored bytes, which are somebody else's: no browser may take them for a page. */
async function sendBody(context: Context): Promise<void> {
  const { ping, check, secrets } = await openPing(context)
  if (ping.bodyBytes === 0) throw new NotFoundError('Nothing was sent with this ping.')
  const name = ping.scheme === 'email' ? `ping-${ping.n}.eml` : `ping-${ping.n}.txt`
  context.response.set({
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}"`,
    'Content-Security-Policy': `default-src 'none'; sandbox`,
  })
  const pieces = readBody(context.deps.db, check.id, ping.n, ping.bodyBytes)
  await sendStream(context.response, maskPieces(pieces, secrets), ping.bodyBytes)
}

/** The mail as its sender laid it out, in a page that can do nothing: no script, no form, nothing from elsewhere. */
async function sendMail(context: Context): Promise<void> {
  const { ping } = await openPing(context)
  const mail = await readPingMail(context, ping)
  if (!mail) throw new NotFoundError('This ping was no mail.')
  const html = mail.html ?? `<pre>${escapeHtml(mail.plain ?? '')}</pre>`
  context.response
    .set({
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': `sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'`,
      'X-Frame-Options': 'SAMEORIGIN',
    })
    .end(`<!doctype html><meta charset="utf-8"><title>Mail</title>${html}`)
}

/** The mail as far as a page shows it; null for a ping that was none. */
async function readPingMail({ deps }: Context, { scheme, body }: PingDetails): Promise<Mail | null> {
  return scheme === 'email' && body ? await deps.threads.run('readMail', body) : null
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
