import type { Knex } from 'knex'
import { NotFoundError } from '#shared/errors.ts'
import { nameOf } from '#shared/monitoring/checks/slug.ts'
import { findPing, type PingDetails } from '#shared/monitoring/pages/check-log-store.ts'
import { finishDurations, planDurations } from '#shared/monitoring/pings/durations.ts'
import { tableOf } from '#shared/monitoring/pings/kept-failure-store.ts'
import { lookBack, type PingTable, readBody } from '#shared/monitoring/pings/store.ts'
import { listProjectKeys } from '#shared/monitoring/projects/store.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { sendStream } from '../../../text-pieces.ts'
import type { Context, Pages } from '../../shell/context.ts'
import { sendPage } from '../../shell/layout.tsx'
import { type CheckWorkspace, checkPath, requireCheckPage } from '../../shell/workspace.ts'
import { maskBytes, maskPieces, maskText } from './ping-body.ts'
import { mailViewOf, type PingRun, PingView } from './ping-view.tsx'
import type { ShownMail } from './shown-mail.ts'

export function pingPages(pages: Pages): void {
  pages.get('/checks/:check/pings/:n', showPing)
  pages.get('/checks/:check/pings/:n/body', sendBody)
  pages.get('/checks/:check/pings/:n/mail', sendMail)
}

interface LoadedPing extends CheckWorkspace {
  ping: PingDetails
  table: PingTable
  path: string
  /** highest number of the deleted pings; 0 if none was deleted */
  goneN: number
  /** ping addresses and keys to hide from this user */
  secrets: string[]
}

async function requirePing(context: Context): Promise<LoadedPing> {
  const workspace = await requireCheckPage(context, 'view')
  const { check, project } = workspace
  const { config, db } = context.deps
  const n = /^\d{1,12}$/.test(context.params.n ?? '') ? Number(context.params.n) : 0
  const goneN = Math.max(0, check.nPings - config.pingLogLimit)
  const table = await tableOf(context.deps, check, n)
  const ping = table ? await findPing(db, table, check.id, n) : null
  if (!table || !ping) throw new NotFoundError('This ping is not kept, or never came.')
  const secrets = may(project.role, 'edit') ? [] : [check.uuid, ...(await pingKeys(context, project.id))]
  const body = ping.body && maskBytes(ping.body, secrets)
  return { ...workspace, path: checkPath(check, project), ping: { ...ping, body }, table, goneN, secrets }
}

async function pingKeys({ deps }: Context, projectId: number): Promise<string[]> {
  const keys = await listProjectKeys(deps.db, projectId)
  return keys.flatMap(({ kind, sealed }) =>
    kind === 'ping' && sealed !== null ? deps.secrets.open('ping-key', sealed) : [],
  )
}

async function showPing(context: Context): Promise<void> {
  const workspace = await requirePing(context)
  const { check, project, ping, path, secrets } = workspace
  const view = mailViewOf(context.query.get('view'))
  const [mail, run] = await Promise.all([
    view === 'source' ? null : readShownMail(context, ping, secrets),
    findRun(context.deps.db, check.id, ping, workspace.goneN),
  ])
  sendPage(
    context,
    { title: `Ping ${ping.n} · ${nameOf(check)}`, workspace, project, area: 'checks' },
    <PingView check={check} path={path} ping={ping} run={run} view={view} mail={mail} />,
  )
}

/** Returns the run that a ping ended, with its start ping if that is still stored. */
async function findRun(db: Knex, checkId: number, ping: PingDetails, goneN: number): Promise<PingRun | null> {
  const plan = planDurations([ping])
  const answers = await lookBack(db, checkId, plan.lookBacks)
  const took = finishDurations(plan, answers).get(ping.n)
  const n = answers[0]?.found?.n ?? 0
  return took === undefined ? null : { took, startN: n > goneN ? n : null }
}

/** The body is untrusted, so no browser may render it as a page. */
async function sendBody(context: Context): Promise<void> {
  const { ping, table, check, secrets } = await requirePing(context)
  if (ping.bodyBytes === 0) throw new NotFoundError('Nothing was sent with this ping.')
  const name = ping.scheme === 'email' ? `ping-${ping.n}.eml` : `ping-${ping.n}.txt`
  context.response.set({
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}"`,
    'Content-Security-Policy': `default-src 'none'; sandbox`,
  })
  const pieces = readBody(context.deps.db, { table, checkId: check.id, n: ping.n, length: ping.bodyBytes })
  await sendStream(context.response, maskPieces(pieces, secrets), ping.bodyBytes)
}

/** Sends the HTML of a mail without scripts, forms and external content. */
async function sendMail(context: Context): Promise<void> {
  const { ping, secrets } = await requirePing(context)
  if (!isMail(ping)) throw new NotFoundError('This ping was no mail.')
  const mail = await context.deps.threads.run('readMail', ping.body)
  const html = mail.html ?? `<pre>${escapeHtml(mail.plain ?? '')}</pre>`
  context.response
    .set({
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': `sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'`,
      'X-Frame-Options': 'SAMEORIGIN',
    })
    .end(`<!doctype html><meta charset="utf-8"><title>Mail</title>${maskText(html, secrets)}`)
}

async function readShownMail(
  { deps }: Context,
  ping: PingDetails,
  secrets: readonly string[],
): Promise<ShownMail | null> {
  if (!isMail(ping)) return null
  const mail = await deps.threads.run('showMail', ping.body)
  return { ...mail, subject: maskText(mail.subject, secrets), text: maskText(mail.text, secrets) }
}

function isMail(ping: PingDetails): ping is PingDetails & { body: Buffer } {
  return ping.scheme === 'email' && ping.body !== null
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
