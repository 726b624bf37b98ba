import { NotFoundError } from '#shared/errors.ts'
import { revokePackShare, sharePack } from '#shared/risk/operations/packs.ts'
import { type PackDocument, packDocument } from '#shared/risk/packs/pdf/document.ts'
import { packFileName } from '#shared/risk/packs/pdf/proof.ts'
import { findPackSource, type PackSource } from '#shared/risk/packs/pdf/store.ts'
import { listShares } from '#shared/risk/risk-console/store.ts'
import { viewAnchor } from '#shared/transparency/operations/anchors.ts'
import { isUuid } from '#shared/uuid.ts'
import { packPdf, pdfHeaders } from '../../pack-pdf.ts'
import { personOf } from '../shell/audit.ts'
import { PageContents } from '../shell/basics.tsx'
import { type Context, type FormContext, type Pages, redirect } from '../shell/context.ts'
import { setFlash } from '../shell/flash.ts'
import { AnchorBlock } from './anchor-block.tsx'
import { CONSOLE, type Console, loadConsole, sendConsole } from './console.tsx'
import { PackView, packParts } from './pack-view.tsx'
import { hasShareCard, ShareCard } from './share-card.tsx'

export function packPages(pages: Pages): void {
  pages.get(`${CONSOLE}/packs/:pack`, showPack)
  pages.get(`${CONSOLE}/packs/:pack/pdf`, async (context) => {
    const console = await loadConsole(context, 'view')
    await sendPdf(context, console, context.params.pack ?? '')
  })
  pages.get(`${CONSOLE}/packs/:pack/json`, sendJson)
  pages.post(`${CONSOLE}/packs/:pack/shares`, share)
  pages.post(`${CONSOLE}/packs/:pack/shares/:share/revoke`, revoke)
}

/** @throws NotFoundError alike for unknown packs and those of other organisations */
export async function requirePack(context: Context, console: Console, id: string): Promise<PackSource> {
  const source = isUuid(id) ? await findPackSource(context.deps.db, console, id) : undefined
  if (!source) throw new NotFoundError('There is no such pack, or it is not one of yours.')
  return source
}

async function showPack(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const packId = context.params.pack ?? ''
  const source = await requirePack(context, console, packId)
  if (source.body === null) return showUnfinished(context, console, source)
  const document = packDocument({ ...source, body: source.body, env: console.env })
  await showReady(context, console, { document, borrower: source.borrower, link: context.flash.secret ?? null })
}

interface Ready {
  document: PackDocument
  borrower: string | null
  /** address of a new share link, shown once */
  link: string | null
}

async function showReady(context: Context, console: Console, { document, borrower, link }: Ready): Promise<void> {
  const { db, config, now } = context.deps
  const { packId } = document
  const [view, shares] = await Promise.all([viewAnchor(db, document.anchor.txId), listShares(db, packId)])
  const proof = view ?? null
  // The log includes the pack within about a second. A reload would lose a new link.
  if (link === null && proof?.index === null) context.response.set('Refresh', '2')
  const path = `${console.base}/packs/${packId}`
  const isShared = hasShareCard(console, shares)
  const parts = [
    ...packParts(document),
    { id: 'anchor', label: 'Anchor' },
    ...(isShared ? [{ id: 'shares-title', label: 'Share links' }] : []),
  ]
  sendConsole(
    context,
    console,
    { title: `Pack ${packId.slice(0, 8)}`, area: 'packs' },
    <div class="pack-with-contents">
      <PageContents parts={parts} />
      <div class="pack">
        <div class="page-head">
          <h1>Risk Signals Pack</h1>
          <div class="row">
            <a class="button primary" href={`${path}/pdf`}>
              PDF
            </a>
            <a class="button" href={`${path}/json`} download={packFileName(packId)}>
              JSON
            </a>
          </div>
        </div>
        <PackView document={document} borrower={borrower} />
        <AnchorBlock document={document} proof={proof} publicUrl={config.publicUrl} />
        {isShared && (
          <ShareCard context={context} console={console} path={path} shares={shares} link={link} now={now()} />
        )}
      </div>
    </div>,
  )
}

/** Reloads until the pack is composed, also without scripts. */
function showUnfinished(context: Context, console: Console, source: PackSource): void {
  const hasFailed = source.state === 'FAILED'
  if (!hasFailed) context.response.set('Refresh', '1')
  sendConsole(
    context,
    console,
    { title: 'Pack', area: 'packs' },
    <>
      <h1>Risk Signals Pack</h1>
      <p class={hasFailed ? 'problem' : 'notice'} role="status">
        {hasFailed
          ? 'The pack could not be composed: something went wrong on our side. A new request may succeed.'
          : context.pingRefusal === null
            ? 'The pack is being composed. This page shows it as soon as it is ready.'
            : 'The request is stored. The pack is composed once the message broker can be reached.'}
      </p>
    </>,
    hasFailed ? 200 : 202,
  )
}

/** Sends the PDF, or a page that reloads until the log includes the pack. */
export async function sendPdf(context: Context, owner: Parameters<typeof packPdf>[1], packId: string): Promise<void> {
  const pdf = await packPdf(context.deps, owner, packId)
  if (pdf) {
    context.response.set(pdfHeaders(packId, pdf)).end(pdf.bytes)
    return
  }
  context.response
    .status(202)
    .set({ Refresh: '2', 'Content-Type': 'text/plain; charset=utf-8' })
    .end('The log does not include this pack yet. This page reloads and sends the document within seconds.\n')
}

async function sendJson(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { body } = await requirePack(context, console, context.params.pack ?? '')
  if (body === null) throw new NotFoundError('The pack is not composed yet.')
  context.response.type('application/json').end(body)
}

async function share(context: FormContext): Promise<void> {
  const console = await loadConsole(context, 'manage')
  const { db, secrets, config } = context.deps
  const packId = context.params.pack ?? ''
  const { body } = await requirePack(context, console, packId)
  if (body === null) throw new NotFoundError('The pack is not composed yet.')
  const shared = { organisationId: console.organisationId, packId }
  const token = await sharePack(db, personOf(context, console.session), shared, { secrets })
  const path = `${console.base}/packs/${packId}`
  setFlash(context, path, { secret: `${config.publicUrl}/share/packs/${token}` })
  redirect(context, `${path}#shares`)
}

async function revoke(context: FormContext): Promise<void> {
  const console = await loadConsole(context, 'manage')
  const { pack = '', share: id = '' } = context.params
  await requirePack(context, console, pack)
  const link = { organisationId: console.organisationId, packId: pack, shareId: id }
  await revokePackShare(context.deps.db, personOf(context, console.session), link)
  redirect(context, `${console.base}/packs/${pack}#shares`)
}
