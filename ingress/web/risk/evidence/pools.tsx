import { runCut } from '#shared/risk/operations/pool-requests.ts'
import { dayText } from '#shared/risk/packs/pdf/figures.ts'
import { CutBody } from '#shared/risk/pools/requests.ts'
import { listPools, newestCutDates } from '#shared/risk/pools/store.ts'
import { EmptyCard } from '../../lists/empty-card.tsx'
import { CodeBlock } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { CONSOLE, type Console, loadConsole, mayIn, sendList } from '../console.tsx'
import { count } from '../counts.ts'
import { sendCutFile } from './cut-download.tsx'
import { evidenceForm } from './form.tsx'
import { jobContext, note } from './job-context.ts'
import { EvidenceState, showPool } from './pool-page.tsx'
import { poolUploadPages } from './pool-upload.tsx'

const SHOWN = 50
const AREA = { area: 'pools' } as const

export function poolPages(pages: Pages): void {
  pages.get(`${CONSOLE}/pools`, showPools)
  // Before the page whose parameter would take `new` for a pool.
  poolUploadPages(pages)
  pages.get(`${CONSOLE}/pools/:pool`, showPool)
  pages.get(`${CONSOLE}/pools/:pool/cuts/:cut/:file`, sendCutFile)
  evidenceForm(pages, {
    ...AREA,
    family: 'securitisation',
    path: '/pools/:pool/cut',
    title: 'Create a cut',
    intro:
      'A cut freezes the receivables of the pool with their evidence, for investors to verify. Receivables that you add later belong to a later cut.',
    button: 'Create the cut',
    fields: [
      {
        name: 'cutOffDate',
        label: 'Cut-off date',
        kind: 'date',
        hint: 'A past day, not before the oldest document of the pool. Days to due are counted from it.',
        isRequired: true,
      },
    ],
    schema: CutBody,
    async submit(sent) {
      const { context, console, body } = sent
      const poolId = context.params.pool ?? ''
      await runCut(jobContext(sent), poolId, body, (tx) => note(tx, context, console, 'pool.cut', poolId))
      return `/pools/${poolId}`
    },
  })
}

async function showPools(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, config } = context.deps
  const pools = await listPools(db, console, SHOWN)
  const cuts = await newestCutDates(
    db,
    pools.map(({ id }) => id),
  )
  sendList(context, console, {
    ...AREA,
    title: 'Pools',
    path: '/pools',
    actions: [['/new', 'Create a pool']],
    variant: 'wide-table stacked',
    intro: (
      <p class="muted">
        A pool collects the receivables of a deal and records evidence for each of them. Its cuts are what investors
        verify.
      </p>
    ),
    columns: [
      {
        title: 'Pool',
        variant: 'breakable',
        cell: ({ id, name }) => <a href={`${console.base}/pools/${id}`}>{name}</a>,
      },
      { title: 'Deal', variant: 'breakable', isLabelled: true, cell: ({ dealId }) => dealId ?? '—' },
      { title: 'Receivables', isNumber: true, isLabelled: true, cell: ({ size }) => count(size) },
      { title: 'Evidence', isLabelled: true, cell: (pool) => <EvidenceState pool={pool} /> },
      { title: 'Newest cut', isLabelled: true, cell: ({ id }) => cutText(cuts.get(id)) },
    ],
    rows: pools,
    empty: <NoPools console={console} />,
    foot: (
      <>
        <h2>With the API</h2>
        <CodeBlock
          text={[
            `curl --data-binary @pool.json ${config.publicUrl}/v1/securitisation/pools \\`,
            '  -H "x-api-key: $API_KEY" -H "Content-Type: application/json" -H "x-idempotency-key: pool-1"',
          ].join('\n')}
          label="create a pool"
        />
      </>
    ),
  })
}

const cutText = (date: string | undefined) => (date === undefined ? 'no cut yet' : dayText(date))

function NoPools({ console }: { console: Console }) {
  return (
    <EmptyCard
      title="No pools yet"
      action={mayIn(console, 'edit') && { label: 'Create the first pool', href: `${console.base}/pools/new` }}
    >
      <ol>
        <li>
          Upload a CSV file with one receivable per line, like the{' '}
          <a href={`${console.base}/pools/sample.csv`}>sample file</a>.
        </li>
        <li>Signalbox records evidence for each receivable.</li>
        <li>Create a cut at a date, and send its package to investors.</li>
      </ol>
    </EmptyCard>
  )
}
