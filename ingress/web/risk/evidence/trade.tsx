import { NotFoundError } from '#shared/errors.ts'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { exportTradePack, tradeBundle } from '#shared/risk/operations/trade-packs.ts'
import { instantText, words } from '#shared/risk/packs/pdf/figures.ts'
import type { TradeCheck } from '#shared/risk/trade/checks.ts'
import { findTradePack, listDocuments, listTradePacks, listVerifications } from '#shared/risk/trade/store.ts'
import type { TradeDocument, TradeFinding } from '#shared/risk/trade/trade-pack.ts'
import { isUuid } from '#shared/uuid.ts'
import { readPage } from '../../../paging.ts'
import { Fact } from '../../components/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { CONSOLE, type Console, loadConsole, mayIn, sendConsole } from '../console.tsx'
import { Tier } from '../tiers.tsx'
import { Checks, ListHead, Pager, Pending, Table } from './parts.tsx'
import { type AnchoredRecord, proveRecord, RecordAnchor } from './record-anchor.tsx'
import { tradeForms } from './trade-forms.ts'

const AREA = { area: 'trade' } as const
const POLL_SECONDS = 2

/** Trade provenance: documents by their hashes, what registries said, and signed packs of both. */
export function tradePages(pages: Pages): void {
  pages.get(`${CONSOLE}/trade`, showTrade)
  // Before the pages whose parameter would take `new` for a pack.
  tradeForms(pages)
  pages.get(`${CONSOLE}/trade/documents`, showDocuments)
  pages.get(`${CONSOLE}/trade/verifications`, showVerifications)
  pages.get(`${CONSOLE}/trade/verifications/:verification`, showVerification)
  pages.get(`${CONSOLE}/trade/packs/:pack`, showPack)
  pages.get(`${CONSOLE}/trade/packs/:pack/:file`, downloadFile)
}

async function showTrade(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const base = `${console.base}/trade`
  const { page, nextCursor } = await readPage(cursorOf(context), context.deps.secrets, (wanted) =>
    listTradePacks(context.deps.db, console, wanted),
  )
  const action = (path: string, label: string) => ({ href: `${base}/${path}`, label })
  const actions = [
    action('packs/new', 'Build a pack'),
    action('documents/new', 'Record a document'),
    action('verify/ebrc', 'e-BRC'),
    action('verify/shipping-bill', 'Shipping bill'),
    action('verify/iec', 'Exporter code'),
  ]
  sendConsole(
    context,
    console,
    { ...AREA, title: 'Trade' },
    <>
      <ListHead title="Trade" actions={mayIn(console, 'edit') ? actions : []} />
      <p class="muted">
        Documents are recorded by their hashes, and never uploaded. A pack is signed and anchored; anybody verifies it.
      </p>
      <p class="row">
        <a href={`${base}/documents`}>Documents</a>
        <a href={`${base}/verifications`}>Verifications</a>
      </p>
      {page.length === 0 ? (
        <p class="empty">There is no pack yet.</p>
      ) : (
        <Table label="Packs" columns={['Pack', 'Documents', 'Verifications', 'Issued']}>
          {page.map(({ id, title, record }) => {
            // Stored as we anchored it.
            const { documents, checks, timestamp } = JSON.parse(record) as PackRecord
            return (
              <tr key={id}>
                <td class="breakable">
                  <a href={`${base}/packs/${id}`}>{title ?? id}</a>
                </td>
                <td class="figure">{documents}</td>
                <td class="figure">{checks}</td>
                <td>{instantText(timestamp)}</td>
              </tr>
            )
          })}
        </Table>
      )}
      <Pager base={base} isFirst={!context.query.has('cursor')} nextCursor={nextCursor} />
    </>,
  )
}

interface PackRecord extends AnchoredRecord {
  documents: number
  checks: number
}

function cursorOf({ query }: Context): { cursor: string | undefined } {
  return { cursor: query.get('cursor') ?? undefined }
}

async function showDocuments(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { page, nextCursor } = await readPage(cursorOf(context), context.deps.secrets, (wanted) =>
    listDocuments(context.deps.db, console, wanted),
  )
  const documents = page.map(({ body }) => JSON.parse(body) as TradeDocument)
  sendConsole(
    context,
    console,
    { ...AREA, title: 'Documents' },
    <>
      <h1>Documents</h1>
      {documents.length === 0 ? <p class="empty">No document is recorded yet.</p> : <Documents documents={documents} />}
      <Pager base={`${console.base}/trade/documents`} isFirst={!context.query.has('cursor')} nextCursor={nextCursor} />
    </>,
  )
}

function Documents({
  documents,
}: {
  documents: readonly Pick<TradeDocument, 'documentId' | 'type' | 'sha256' | 'tier'>[]
}) {
  return (
    <Table label="Documents" columns={['Document', 'SHA-256', 'Tier']}>
      {documents.map(({ documentId, type, sha256, tier }) => (
        <tr key={documentId}>
          <td>{words(type)}</td>
          <td class="mono breakable">{sha256}</td>
          <td>
            <Tier tier={tier} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

async function showVerifications(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const base = `${console.base}/trade/verifications`
  const { page, nextCursor } = await readPage(cursorOf(context), context.deps.secrets, (wanted) =>
    listVerifications(context.deps.db, console, wanted),
  )
  const findings = page.map(({ body }) => JSON.parse(body) as TradeFinding)
  sendConsole(
    context,
    console,
    { ...AREA, title: 'Verifications' },
    <>
      <h1>Verifications</h1>
      {findings.length === 0 ? (
        <p class="empty">No registry was asked yet.</p>
      ) : (
        <Table label="Verifications" columns={['Of', 'Found', 'At']}>
          {findings.map(({ verificationId, subjectKind, results, timestamp }) => (
            <tr key={verificationId}>
              <td>
                <a href={`${base}/${verificationId}`}>{words(subjectKind)}</a>
              </td>
              <td>{results.map(({ key, result }) => `${key} ${result.toLowerCase()}`).join(', ')}</td>
              <td>{instantText(timestamp)}</td>
            </tr>
          ))}
        </Table>
      )}
      <Pager base={base} isFirst={!context.query.has('cursor')} nextCursor={nextCursor} />
    </>,
  )
}

/** What a worker made of what was asked for. @returns undefined while it is at it. @throws as the API does */
async function outcomeOf<Body>(
  { deps }: Context,
  console: Console,
  job: { kind: 'trade.pack' | 'trade.verification'; id: string; what: string },
): Promise<Body | undefined> {
  const answer = await readOutcome(deps, console, { ...job, folder: '' })
  if (answer.status === 202) return undefined
  // Stored as we answered it.
  return JSON.parse(String(answer.body)) as Body
}

function sendPending(context: Context, console: Console, title: string): void {
  sendConsole(context, console, { ...AREA, title, pollSeconds: POLL_SECONDS }, <Pending title={title} />)
}

async function showVerification(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const id = context.params.verification ?? ''
  const job = { kind: 'trade.verification', id, what: 'verification' } as const
  const found = await outcomeOf<TradeFinding>(context, console, job)
  if (!found) return sendPending(context, console, 'Verification')
  const { db, config } = context.deps
  sendConsole(
    context,
    console,
    { ...AREA, title: 'Verification' },
    <>
      <h1>Verification: {words(found.subjectKind)}</h1>
      <Checks checks={found.results} />
      <RecordAnchor proven={await proveRecord(db, found)} publicUrl={config.publicUrl} env={console.env} />
    </>,
  )
}

interface IssuedPack {
  title: string | null
  documents: TradeDocument[]
  checks: TradeCheck[]
  record: AnchoredRecord
}

async function showPack(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const id = context.params.pack ?? ''
  const pack = await outcomeOf<IssuedPack>(context, console, { kind: 'trade.pack', id, what: 'pack' })
  if (!pack) return sendPending(context, console, 'Pack')
  const { db, config } = context.deps
  const { title, documents, checks, record } = pack
  const path = `${console.base}/trade/packs/${id}`
  sendConsole(
    context,
    console,
    { ...AREA, title: title ?? 'Pack' },
    <>
      <h1>{title ?? 'Pack'}</h1>
      <dl class="facts">
        <Fact title="Documents">{documents.length}</Fact>
        <Fact title="Findings">{checks.length}</Fact>
        <Fact title="Issued">{instantText(record.timestamp)}</Fact>
      </dl>
      <p class="row">
        <a href={`${path}/bundle.json`}>Bundle</a>
        <a href={`${path}/bag.zip`}>Bag</a>
        <a href={`${path}/summary.pdf`}>Summary</a>
      </p>
      <Documents documents={documents} />
      {checks.length > 0 && <Checks checks={checks} />}
      <RecordAnchor proven={await proveRecord(db, record)} publicUrl={config.publicUrl} env={console.env} />
    </>,
  )
}

const TYPES: Readonly<Record<string, string>> = {
  'bundle.json': 'application/json',
  'bag.zip': 'application/zip',
  'summary.pdf': 'application/pdf',
}

async function downloadFile(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { pack: id = '', file = '' } = context.params
  const { db, secrets } = context.deps
  const type = Object.hasOwn(TYPES, file) ? TYPES[file] : undefined
  const pack = type !== undefined && isUuid(id) ? await findTradePack(db, console, id) : undefined
  if (!pack || type === undefined) throw new NotFoundError('There is no such pack, or it is not one of yours.')
  const bytes =
    file === 'bundle.json'
      ? await tradeBundle(db, pack)
      : file === 'bag.zip'
        ? await exportTradePack(db, secrets, console, pack.id)
        : pack.pdf
  context.response
    .status(200)
    .set('Content-Type', type)
    .set('Content-Disposition', `attachment; filename="trade-pack-${id.slice(0, 8)}-${file}"`)
    .end(bytes)
}
