import { NotFoundError } from '#shared/errors.ts'
import { instantText, words } from '#shared/risk/packs/pdf/figures.ts'
import { verificationLines } from '#shared/risk/packs/pdf/proof.ts'
import { findPdfStatement } from '#shared/risk/packs/pdf/store.ts'
import { type AnchorView, viewAnchor } from '#shared/transparency/operations/anchors.ts'
import { TextArea } from '../forms/inputs.tsx'
import { verificationModules } from '../risk/assets.ts'
import { RiskStyle } from '../risk/console.tsx'
import { CodeBlock } from '../shell/basics.tsx'
import type { Context, Pages } from '../shell/context.ts'
import { sendPage } from '../shell/layout.tsx'

const SHA256 = /^[0-9a-f]{64}$/
/** Placeholders for the reader's values. */
const EXAMPLE = { txId: '<txId of its anchor>', packId: '<packId>' }

/** Verifies a pack or its PDF in the browser, without a sign-in; nothing is sent to the server. */
export function verificationPages(pages: Pages): void {
  pages.get('/verify', showVerification)
  pages.get('/verify/files/:sha256', sendStatement)
}

async function showVerification(context: Context): Promise<void> {
  const { db, config } = context.deps
  const requested = context.query.get('txId') ?? ''
  const view = SHA256.test(requested) ? await viewAnchor(db, requested) : undefined
  const log = view?.env ?? 'sandbox'
  sendPage(
    context,
    { title: 'Verify a pack', isPublic: true },
    <>
      <RiskStyle />
      <h1>Verify a pack</h1>
      <p>
        Choose a pack or a package that you received. You need no account. This browser recomputes its hashes, its entry
        in the public log, the proof that the log includes it, and the signature of the log. The file is not uploaded.
      </p>
      <section
        class="card verification"
        data-report
        data-tx-id={view ? requested : undefined}
        aria-live="polite"
        tabIndex={-1}
        hidden
      />
      <form data-verify class="card stack" hidden>
        <div class="field drop-zone">
          <label for="file">Pack (JSON), its PDF or a package (ZIP)</label>
          <input
            id="file"
            name="file"
            type="file"
            accept=".json,.pdf,.zip,application/json,application/pdf,application/zip"
          />
          <p class="hint">
            Also the package of trade documents or of a pool cut (ZIP), their bundle (JSON), any anchored record, or the
            proof of a check’s uptime. The file is verified when you choose it or drop it here.
          </p>
        </div>
        <TextArea label="or paste the JSON" name="pack" rows={6} isMono />
        <p>
          <button type="submit" class="primary">
            Verify
          </button>
        </p>
      </form>
      <p class="problem" data-insecure hidden>
        This browser recomputes hashes on https pages only. Verify offline, as below.
      </p>
      {requested !== '' && <AnchorResult requested={requested} view={view} />}
      <section class="card" aria-labelledby="offline" data-offline>
        <h2 id="offline">Without this page</h2>
        <p>
          This page is only as trustworthy as its server. These lines use the offline verifier of the source code. Get
          the policy once over a channel that you trust, and keep it.
        </p>
        <CodeBlock
          label="four lines"
          text={verificationLines(config.publicUrl, view ? requested : EXAMPLE.txId, EXAMPLE.packId, log).join('\n')}
        />
      </section>
      {verificationModules.map(({ path }) => (
        <link rel="modulepreload" href={path} key={path} />
      ))}
      <script type="module" src={verificationModules.at(-1)?.path} />
    </>,
  )
}

/** Shows the service's record of a transaction, which is not a verification yet. Needs no scripts. */
function AnchorResult({ requested, view }: { requested: string; view: AnchorView | undefined }) {
  if (!view) {
    return (
      <p class="problem" role="alert">
        The log contains no transaction <code class="breakable">{requested.slice(0, 100)}</code>.
      </p>
    )
  }
  const entry: { eventType: string; timestamp: string; payloadSha256: string } = JSON.parse(view.entry)
  return (
    <section class="card" aria-labelledby="transaction">
      <h2 id="transaction">Transaction</h2>
      {view.env === 'sandbox' && (
        <p class="sandbox-band">
          <strong>Sandbox — not evidence.</strong> This is an entry of the sandbox's log.
        </p>
      )}
      <dl class="facts">
        {(
          [
            ['Transaction', requested],
            ['Type', entry.eventType.split('.').map(words).join(': ')],
            ['Time', instantText(entry.timestamp)],
            ['SHA-256', entry.payloadSha256],
            ['State', words(view.state)],
            [
              'Log index',
              view.index === null ? 'no checkpoint covers it yet' : `${view.index} in a tree of ${view.treeSize}`,
            ],
          ] as const
        ).map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd class="breakable figure">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

/** Sends the anchored statement about a file. Only a client with the file knows its hash. */
async function sendStatement(context: Context): Promise<void> {
  const digest = context.params.sha256 ?? ''
  const statement = SHA256.test(digest)
    ? await findPdfStatement(context.deps.db, Buffer.from(digest, 'hex'))
    : undefined
  if (statement === undefined) throw new NotFoundError('No such document was issued here.')
  context.response.type('application/json').end(statement)
}
