import type { PackDocument } from '#shared/risk/packs/pdf/document.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { type PackProof, verificationLines, verificationUrl } from '#shared/risk/packs/pdf/proof.ts'
import { qrMatrix } from '#shared/risk/packs/pdf/qr-matrix.ts'
import { CodeBlock, Copyable } from '../components/form.tsx'

/** What fixes the pack in the public log, and how anybody checks it without trusting this page. */
export function AnchorBlock(props: { document: PackDocument; proof: PackProof | null; publicUrl: string }) {
  const { document, proof, publicUrl } = props
  const { anchor } = document
  const address = verificationUrl(publicUrl, anchor.txId)
  const log = document.isSandbox ? 'sandbox' : 'production'
  return (
    <section class="card anchor-block" aria-labelledby="anchor">
      <h2 id="anchor">Anchor</h2>
      <div class="anchor-columns">
        <dl class="facts">
          <div>
            <dt>Pack SHA-256</dt>
            <dd>
              <Copyable text={anchor.payloadSha256} label="the hash of the pack" />
            </dd>
          </div>
          <div>
            <dt>Transaction</dt>
            <dd>
              <Copyable text={anchor.txId} label="the transaction" />
            </dd>
          </div>
          <div>
            <dt>State</dt>
            <dd>{proof ? words(proof.state) : 'unknown to the log'}</dd>
          </div>
          <div>
            <dt>Log index</dt>
            <dd class="figure">
              {proof && proof.index !== null
                ? `${proof.index} in a tree of ${proof.treeSize}`
                : 'no checkpoint covers it yet'}
            </dd>
          </div>
        </dl>
        <a class="qr" href={address}>
          <QrCode text={address} />
          <span>Check this pack</span>
        </a>
      </div>
      {proof?.checkpoint && (
        <>
          <h3>Checkpoint of the log</h3>
          <CodeBlock text={proof.checkpoint} label="checkpoint" />
        </>
      )}
      <h3>Verify it yourself</h3>
      <CodeBlock text={verificationLines(publicUrl, anchor.txId, document.packId, log).join('\n')} label="four lines" />
    </section>
  )
}

function QrCode({ text }: { text: string }) {
  const { size, runs } = qrMatrix(text)
  const edge = size + 4
  const path = runs.map(({ x, y, length }) => `M${x + 2} ${y + 2}h${length}v1h-${length}z`).join('')
  return (
    <svg class="qr-code" viewBox={`0 0 ${edge} ${edge}`} width="148" height="148" role="img" aria-label="QR code">
      <title>QR code of the verification page</title>
      <rect width={edge} height={edge} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
