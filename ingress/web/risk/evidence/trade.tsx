import { NotFoundError } from '#shared/errors.ts'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { exportTradePack, tradeBundle } from '#shared/risk/operations/trade-packs.ts'
import { instantText, words } from '#shared/risk/packs/pdf/figures.ts'
import type { TradeCheck } from '#shared/risk/trade/checks.ts'
import { findTradePack, listDocuments, listTradePacks, listVerifications } from '#shared/risk/trade/store.ts'
import type { TradeDocument, TradeFinding } from '#shared/risk/trade/trade-pack.ts'
import { isUuid } from '#shared/uuid.ts'
import { type Column, Table } from '../../lists/list.tsx'
import { readBySeq } from '../../lists/paging.ts'
import { Fact } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { CONSOLE, type Console, loadConsole, sendConsole, sendList } from '../console.tsx'
import { Tier } from '../tiers.tsx'
import { Checks, sendPending } from './parts.tsx'
import { type AnchoredRecord, proveRecord, RecordAnchor } from './record-anchor.tsx'
import { tradeForms } from './trade-forms.ts'

const AREA = { area: 'trade' } as const

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
  // Stored as we anchored it.
  const recordOf = ({ record }: { record: string }) => JSON.parse(record) as PackRecord
  sendList(context, console, {
    ...AREA,
    title: 'Trade',
    label: 'Packs',
    path: '/trade',
    actions: [
      ['/packs/new', 'Build a pack'],
      ['/documents/new', 'Record a document'],
      ['/verify/ebrc', 'e-BRC'],
      ['/verify/shipping-bill', 'Shipping bill'],
      ['/verify/iec', 'Exporter code'],
    ],
    intro: (
      <>
        <p class="muted">
          Documents are recorded by their hashes, and never uploaded. A pack is signed and anchored, so that anyone can
          verify it.
        </p>
        <p class="row">
          <a href={`${base}/documents`}>Documents</a>
          <a href={`${base}/verifications`}>Verifications</a>
        </p>
      </>
    ),
    columns: [
      {
        title: 'Pack',
        variant: 'breakable',
        cell: ({ id, title }) => <a href={`${base}/packs/${id}`}>{title ?? id}</a>,
      },
      { title: 'Documents', variant: 'figure', cell: (pack) => recordOf(pack).documents },
      { title: 'Verifications', variant: 'figure', cell: (pack) => recordOf(pack).checks },
      { title: 'Issued', cell: (pack) => instantText(recordOf(pack).timestamp) },
    ],
    empty: 'There is no pack yet.',
    ...(await readBySeq(context, (before, limit) => listTradePacks(context.deps.db, console, { before, limit }))),
  })
}

interface PackRecord extends AnchoredRecord {
  documents: number
  checks: number
}

const DOCUMENT_COLUMNS: Column<Pick<TradeDocument, 'type' | 'sha256' | 'tier'>>[] = [
  { title: 'Document', cell: ({ type }) => words(type) },
  { title: 'SHA-256', variant: 'mono breakable', cell: ({ sha256 }) => sha256 },
  { title: 'Tier', cell: ({ tier }) => <Tier tier={tier} /> },
]

async function showDocuments(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { rows, pages } = await readBySeq(context, (before, limit) =>
    listDocuments(context.deps.db, console, { before, limit }),
  )
  sendList(context, console, {
    ...AREA,
    title: 'Documents',
    path: '/trade/documents',
    columns: DOCUMENT_COLUMNS,
    rows: rows.map(({ body }) => JSON.parse(body) as TradeDocument),
    empty: 'No document is recorded yet.',
    pages,
  })
}

async function showVerifications(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const path = '/trade/verifications'
  const { rows, pages } = await readBySeq(context, (before, limit) =>
    listVerifications(context.deps.db, console, { before, limit }),
  )
  sendList(context, console, {
    ...AREA,
    title: 'Verifications',
    path,
    columns: [
      {
        title: 'Of',
        cell: ({ verificationId, subjectKind }) => (
          <a href={`${console.base}${path}/${verificationId}`}>{words(subjectKind)}</a>
        ),
      },
      {
        title: 'Found',
        cell: ({ results }) => results.map(({ key, result }) => `${key} ${result.toLowerCase()}`).join(', '),
      },
      { title: 'At', cell: ({ timestamp }) => instantText(timestamp) },
    ],
    rows: rows.map(({ body }) => JSON.parse(body) as TradeFinding),
    empty: 'No registry has been queried yet.',
    pages,
  })
}

/** @returns undefined until the worker has finished @throws as the API does */
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

async function showVerification(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const id = context.params.verification ?? ''
  const job = { kind: 'trade.verification', id, what: 'verification' } as const
  const found = await outcomeOf<TradeFinding>(context, console, job)
  if (!found) return sendPending(context, console, { ...AREA, title: 'Verification' })
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
  if (!pack) return sendPending(context, console, { ...AREA, title: 'Pack' })
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
      <Table label="Documents" columns={DOCUMENT_COLUMNS} rows={documents} />
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
