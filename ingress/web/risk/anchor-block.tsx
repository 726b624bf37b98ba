import type { PackDocument } from '#shared/risk/packs/pdf/document.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { type PackProof, verificationLines, verificationUrl } from '#shared/risk/packs/pdf/proof.ts'
import { CodeBlock, Copyable, QrCode } from '../shell/basics.tsx'

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
          <QrCode text={address} title="QR code of the verification page" />
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
