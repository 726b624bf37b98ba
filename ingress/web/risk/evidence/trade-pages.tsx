import { NotFoundError } from '#shared/errors.ts'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { exportTradePack, tradeBundle } from '#shared/risk/operations/trade-packs.ts'
import { instantText } from '#shared/risk/packs/pdf/figures.ts'
import type { TradeCheck } from '#shared/risk/trade/checks.ts'
import { findDocuments, findTradePack } from '#shared/risk/trade/store.ts'
import type { TradeDocument, TradeFinding } from '#shared/risk/trade/trade-pack.ts'
import { isUuid } from '#shared/uuid.ts'
import { Table } from '../../lists/list.tsx'
import { Copyable, Crumb, Fact } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { NextAction } from '../actions.tsx'
import { type Console, loadConsole, mayIn, sendConsole } from '../console.tsx'
import { counted } from '../counts.ts'
import { Tier } from '../tiers.tsx'
import { codeName } from './names.ts'
import { Checks, sendPending } from './parts.tsx'
import { type AnchoredRecord, proveRecord, RecordAnchor } from './record-anchor.tsx'
import { documentColumns, linkIn, Outcome, type PackDocument, VERIFY } from './trade-parts.tsx'

const AREA = { area: 'trade' } as const

export async function showDocument(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, config } = context.deps
  const id = context.params.document ?? ''
  const [stored] = isUuid(id) ? await findDocuments(db, console, [id]) : []
  if (!stored) throw new NotFoundError('There is no such document, or it is not one of yours.')
  // Stored as we anchored it.
  const document = JSON.parse(stored.body) as TradeDocument & AnchoredRecord
  const { type, sha256, sizeBytes, mediaType, tier, timestamp } = document
  const title = codeName(type)
  sendConsole(
    context,
    console,
    { ...AREA, title },
    <>
      <Crumb href={`${console.base}/trade/documents`} label="Documents" />
      <h1>{title}</h1>
      {mayIn(console, 'edit') && (
        <NextAction
          context={context}
          text="Record the other documents of the shipment, then build a pack with them."
          actions={[linkIn(console, [`/packs/new?documents=${id}`, 'Build a pack with it'])]}
          more={[linkIn(console, ['/documents/new', 'Record another document'])]}
        />
      )}
      <dl class="facts">
        <Fact title="SHA-256">
          <Copyable text={sha256} label="the hash of the document" />
        </Fact>
        {sizeBytes !== null && <Fact title="Size">{counted(sizeBytes, 'byte')}</Fact>}
        {mediaType !== null && <Fact title="Media type">{mediaType}</Fact>}
        <Fact title="Recorded">{instantText(timestamp)}</Fact>
        <Fact title="Tier">
          <Tier tier={tier} />
        </Fact>
      </dl>

      <RecordAnchor proven={await proveRecord(db, document)} publicUrl={config.publicUrl} env={console.env} />
    </>,
  )
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

export async function showVerification(context: Context): Promise<void> {
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
      <Crumb href={`${console.base}/trade/verifications`} label="Verifications" />
      <h1>
        Verification: {codeName(found.subjectKind)} <Outcome checks={found.results} />
      </h1>
      {mayIn(console, 'edit') && (
        <NextAction
          context={context}
          text="Put the result into a pack with the documents of the shipment."
          actions={[linkIn(console, [`/packs/new?checks=${id}`, 'Build a pack with it'])]}
          more={VERIFY.map((link) => linkIn(console, link))}
        />
      )}
      <Checks checks={found.results} />
      <RecordAnchor proven={await proveRecord(db, found)} publicUrl={config.publicUrl} env={console.env} />
    </>,
  )
}

interface IssuedPack {
  title: string | null
  documents: PackDocument[]
  checks: TradeCheck[]
  record: AnchoredRecord
}

export async function showPack(context: Context): Promise<void> {
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
      <Crumb href={`${console.base}/trade`} label="Trade" />
      <h1>{title ?? 'Trade pack'}</h1>
      <NextAction
        context={context}
        text={
          <>
            Send the bundle, or the package with your documents, to the recipient. Anyone can verify the bundle on the{' '}
            <a href="/verify">verification page</a>, without an account.
          </>
        }
        actions={[
          { href: `${path}/bag.zip`, label: 'BagIt package (ZIP)' },
          { href: `${path}/bundle.json`, label: 'Bundle (JSON)' },
          { href: `${path}/summary.pdf`, label: 'Summary (PDF)' },
        ]}
      />
      <dl class="facts">
        <Fact title="Checks">{checks.length === 0 ? 'none' : <Outcome checks={checks} />}</Fact>
        <Fact title="Issued">{instantText(record.timestamp)}</Fact>
      </dl>
      <h2>Documents</h2>
      <Table label="Documents" variant="wide-table stacked" columns={documentColumns(console)} rows={documents} />
      {checks.length > 0 && (
        <>
          <h2>Checks</h2>
          <Checks checks={checks} />
        </>
      )}
      <RecordAnchor proven={await proveRecord(db, record)} publicUrl={config.publicUrl} env={console.env} />
    </>,
  )
}

const TYPES: Readonly<Record<string, string>> = {
  'bundle.json': 'application/json',
  'bag.zip': 'application/zip',
  'summary.pdf': 'application/pdf',
}

export async function downloadFile(context: Context): Promise<void> {
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
