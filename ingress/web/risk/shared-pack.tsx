import { NotFoundError } from '#shared/errors.ts'
import { packDocument } from '#shared/risk/packs/pdf/document.ts'
import { packFileName, verificationUrl } from '#shared/risk/packs/pdf/proof.ts'
import { findPackSource } from '#shared/risk/packs/pdf/store.ts'
import { shareDigestText } from '#shared/risk/packs/policy.ts'
import { findSharedPack } from '#shared/risk/risk-console/store.ts'
import { viewAnchor } from '#shared/transparency/operations/anchors.ts'
import type { Context, Pages } from '../shell/context.ts'
import { sendPage } from '../shell/layout.tsx'
import { AnchorBlock } from './anchor-block.tsx'
import { RiskStyle, SandboxBand } from './console.tsx'
import { sendPdf } from './pack-page.tsx'
import { PackView } from './pack-view.tsx'

const NO_LINK = 'There is no such link, or it does not work any more.'

/** Shows a pack by a share link without a sign-in; search engines must not index it. */
export function sharedPackPages(pages: Pages): void {
  pages.get('/share/packs/:token', showShared)
  pages.get('/share/packs/:token/pdf', async (context) => {
    const { packId, ...owner } = await requireShare(context)
    await sendPdf(context, owner, packId)
  })
  pages.get('/share/packs/:token/json', async (context) => {
    const { packId, ...owner } = await requireShare(context)
    const source = await findPackSource(context.deps.db, owner, packId)
    if (!source || source.body === null) throw new NotFoundError(NO_LINK)
    context.response.type('application/json').end(source.body)
  })
}

/** @throws NotFoundError alike for unknown, ended and revoked links */
async function requireShare(context: Context) {
  const { db, secrets } = context.deps
  context.response.set('X-Robots-Tag', 'noindex, nofollow')
  const token = context.params.token ?? ''
  const shared = token.length === 43 && (await findSharedPack(db, secrets.digests(shareDigestText(token))))
  if (!shared) throw new NotFoundError(NO_LINK)
  return shared
}

async function showShared(context: Context): Promise<void> {
  const { db, config } = context.deps
  const { packId, ...owner } = await requireShare(context)
  const source = await findPackSource(db, owner, packId)
  if (!source || source.body === null) throw new NotFoundError(NO_LINK)
  const document = packDocument({ ...source, body: source.body, env: owner.env })
  const proof = (await viewAnchor(db, document.anchor.txId)) ?? null
  const path = `/share/packs/${context.params.token}`
  sendPage(
    context,
    { title: `Pack ${packId.slice(0, 8)}`, isPublic: true },
    <>
      <RiskStyle />
      {document.isSandbox && <SandboxBand />}
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
      <p class="muted">
        To verify this pack without an account, download the PDF or the JSON and open it on the{' '}
        <a href={verificationUrl(config.publicUrl, document.anchor.txId)}>verification page</a>.
      </p>
      <PackView document={document} />
      <AnchorBlock document={document} proof={proof} publicUrl={config.publicUrl} />
    </>,
  )
}
