import type { Knex } from 'knex'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { verificationUrl } from '#shared/risk/packs/pdf/proof.ts'
import { viewAnchor } from '#shared/transparency/operations/anchors.ts'
import { CodeBlock, Copyable } from '../../shell/basics.tsx'

export interface AnchoredRecord {
  eventType: string
  timestamp: string
  anchor: { txId: string; payloadSha256: string }
}

export interface ProvenRecord {
  record: AnchoredRecord
  state: string | null
  place: string | null
}

export async function proveRecord(db: Knex, record: AnchoredRecord): Promise<ProvenRecord> {
  const view = await viewAnchor(db, record.anchor.txId)
  const place = view?.index == null ? null : `${view.index} in a tree of ${view.treeSize}`
  return { record, state: view?.state ?? null, place }
}

export function RecordAnchor(props: { proven: ProvenRecord; publicUrl: string; env: string; title?: string }) {
  const { proven, publicUrl, env, title = 'Anchor' } = props
  const { txId, payloadSha256 } = proven.record.anchor
  const lines = [
    `curl -s ${publicUrl}/v1/anchors/${txId} -o proof.json`,
    `curl -s ${publicUrl}/v1/transparency/${env.toLowerCase()}/policy -o policy.txt`,
    'npm run -s verify -- record.json --proof proof.json --policy policy.txt',
  ]
  return (
    <section class="card anchor-block" aria-label={title}>
      <h2>{title}</h2>
      <dl class="facts">
        <div>
          <dt>SHA-256 of the record</dt>
          <dd>
            <Copyable text={payloadSha256} label={`the hash: ${title}`} />
          </dd>
        </div>
        <div>
          <dt>Transaction</dt>
          <dd>
            <Copyable text={txId} label={`the transaction: ${title}`} />
          </dd>
        </div>
        <div>
          <dt>State</dt>
          <dd>{proven.state === null ? 'unknown to the log' : words(proven.state)}</dd>
        </div>
        <div>
          <dt>Log index</dt>
          <dd class="figure">{proven.place ?? 'no checkpoint covers it yet'}</dd>
        </div>
      </dl>
      <p>
        <a href={verificationUrl(publicUrl, txId)}>Check this record</a>
      </p>
      <details class="more">
        <summary>The record, and how to verify it yourself</summary>
        <p class="hint">Save this as record.json:</p>
        <CodeBlock text={JSON.stringify(proven.record)} label={`record: ${title}`} />
        <CodeBlock text={lines.join('\n')} label={`three lines: ${title}`} />
      </details>
    </section>
  )
}

/** `identity.passport_issued` is `identity passport issued`. */
function eventText(type: string): string {
  return type.replaceAll(/[._]/g, ' ')
}

/** @param title prefix of the event of each record */
export function RecordAnchors(props: {
  proven: readonly ProvenRecord[]
  publicUrl: string
  env: string
  title?: string
}) {
  const { proven, publicUrl, env, title = 'Anchor: ' } = props
  return (
    <>
      {proven.map((one) => (
        <RecordAnchor
          key={one.record.anchor.txId}
          proven={one}
          publicUrl={publicUrl}
          env={env}
          title={`${title}${eventText(one.record.eventType)}`}
        />
      ))}
    </>
  )
}
