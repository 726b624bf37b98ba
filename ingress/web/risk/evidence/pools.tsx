import type { ComponentChildren } from 'preact'
import { requirePool, runCut, runCutJob } from '#shared/risk/operations/pool-requests.ts'
import { inrText } from '#shared/risk/packs/money.ts'
import { CutBody } from '#shared/risk/pools/requests.ts'
import { findCut, listCuts, listPools, newestCut, type Pool, type PoolCut } from '#shared/risk/pools/store.ts'
import type { Stratification, Stratum } from '#shared/risk/pools/strata.ts'
import { isUuid } from '#shared/uuid.ts'
import { PageHead, Table } from '../../lists/list.tsx'
import { CodeBlock, Fact } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { CONSOLE, type Console, loadConsole, mayIn, sendConsole, sendList } from '../console.tsx'
import { evidenceForm } from './form.tsx'
import { jobContext, note } from './job-context.ts'
import { type AnchoredRecord, proveRecord, RecordAnchor } from './record-anchor.tsx'

const SHOWN = 50
const POLL_SECONDS = 2
const AREA = { area: 'pools' } as const

export function poolPages(pages: Pages): void {
  pages.get(`${CONSOLE}/pools`, showPools)
  pages.get(`${CONSOLE}/pools/:pool`, showPool)
  evidenceForm(pages, {
    ...AREA,
    family: 'securitisation',
    path: '/pools/:pool/cut',
    title: 'Cut a pool',
    intro: 'Freezes members and evidence as they are; what is added later is in a later cut.',
    button: 'Cut',
    fields: [{ name: 'cutOffDate', label: 'Cut-off date', hint: 'YYYY-MM-DD', isRequired: true }],
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
  sendList(context, console, {
    ...AREA,
    title: 'Pools',
    path: '/pools',
    intro: (
      <p class="muted">Receivables with an anchored evidence object each, and cuts with a root over all of them.</p>
    ),
    columns: [
      { title: 'Pool', cell: ({ id, name }) => <a href={`${console.base}/pools/${id}`}>{name}</a> },
      { title: 'Deal', variant: 'breakable', cell: ({ dealId }) => dealId ?? '—' },
      { title: 'Receivables', variant: 'figure', cell: ({ size }) => size },
      { title: 'With evidence', variant: 'figure', cell: ({ built }) => built },
    ],
    rows: await listPools(db, console, SHOWN),
    empty: 'There is no pool yet.',
    foot: (
      <>
        <h2>Create a pool</h2>
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

interface Cut extends AnchoredRecord {
  cutRecordId: string
  cutOffDate: string
  size: number
  root: string
  sumPaise: string
}

async function showPool(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, config } = context.deps
  const pool = await requirePool(db, console, context.params.pool ?? '')
  const shown = await chosen(context, console, pool)
  // Stored by us.
  const cuts = (await listCuts(db, pool.id, SHOWN)).map((body) => JSON.parse(body) as Cut)
  const strata = shown && (await strataOf(context, console, shown))
  const proven = shown && (await proveRecord(db, JSON.parse(shown.body) as Cut))
  const isOpen = pool.built < pool.size || (shown !== undefined && strata === undefined)
  const base = `${console.base}/pools/${pool.id}`
  sendConsole(
    context,
    console,
    { ...AREA, title: pool.name, ...(isOpen ? { pollSeconds: POLL_SECONDS } : {}) },
    <>
      <PageHead title={pool.name} actions={mayIn(console, 'edit') ? [{ href: `${base}/cut`, label: 'Cut' }] : []} />
      <dl class="facts">
        <Fact title="Receivables">{pool.size}</Fact>
        <Fact title="With evidence">{pool.built}</Fact>
        <Fact title="Deal">{pool.dealId ?? '—'}</Fact>
      </dl>
      {cuts.length === 0 && <p class="empty">There is no cut yet.</p>}
      <Table
        label="Cuts"
        columns={[
          {
            title: 'Cut-off date',
            cell: ({ cutRecordId, cutOffDate }) => <a href={`${base}?cut=${cutRecordId}`}>{cutOffDate}</a>,
          },
          { title: 'Receivables', variant: 'figure', cell: ({ size }) => size },
          { title: 'Sum', variant: 'figure', cell: ({ sumPaise }) => sumText(sumPaise) },
          { title: 'Root', variant: 'mono breakable', cell: ({ root }) => root },
        ]}
        rows={cuts}
      />
      {shown && (strata ? <Strata strata={strata} /> : <p class="notice">The cut is being totalled.</p>)}
      {proven && <RecordAnchor proven={proven} publicUrl={config.publicUrl} env={console.env} />}
    </>,
  )
}

/** Returns the cut of the address, by default the newest. */
async function chosen(context: Context, console: Console, pool: Pool): Promise<PoolCut | undefined> {
  const { db } = context.deps
  const requested = context.query.get('cut') ?? ''
  const cut = isUuid(requested) ? await findCut(db, console, requested) : undefined
  return cut?.poolId === pool.id ? cut : await newestCut(db, pool.id)
}

/** @returns undefined until the worker has finished */
async function strataOf(context: Context, console: Console, cut: PoolCut): Promise<Stratification | undefined> {
  const { organisationId, env } = console
  const job = { caller: { organisationId, env }, deps: context.deps, waitMs: 0 }
  const answer = await runCutJob(job, 'stratification', cut)
  // Stored as we answered it.
  return answer.status === 200 ? (JSON.parse(answer.body) as Stratification) : undefined
}

function Strata({ strata }: { strata: Stratification }) {
  const { size, sumPaise, weightedDays, topBuyers } = strata
  return (
    <>
      <dl class="facts">
        <Fact title="Sum">{sumText(sumPaise)}</Fact>
        <Fact title="Weighted days to due">{weightedDays ?? 'missing'}</Fact>
      </dl>
      <Bands title="Amount" size={size} strata={strata.amount} />
      <Bands title="Days to due" size={size} strata={strata.daysToDue} />
      <Bands title="Acceptance" size={size} strata={strata.acceptance} />
      <Bands title="Tier" size={size} strata={strata.tier} />
      <Table
        label="Largest buyers"
        columns={[
          { title: 'Buyer', variant: 'mono breakable', cell: ({ buyerVei }) => buyerVei },
          { title: 'Sum', variant: 'figure', cell: (buyer) => sumText(buyer.sumPaise) },
          { title: 'Share', cell: ({ bps }) => <Bar part={bps} whole={10_000}>{`${(bps / 100).toFixed(2)} %`}</Bar> },
        ]}
        rows={topBuyers}
      />
    </>
  )
}

function Bands({ title, size, strata }: { title: string; size: number; strata: readonly Stratum[] }) {
  return (
    <Table
      label={title}
      columns={[
        { title, cell: ({ band }) => band.replaceAll('_', ' ').toLowerCase() },
        {
          title: 'Receivables',
          cell: ({ count }) => (
            <Bar part={count} whole={size}>
              {count}
            </Bar>
          ),
        },
        { title: 'Sum', variant: 'figure', cell: ({ sumPaise }) => sumText(sumPaise) },
      ]}
      rows={strata}
    />
  )
}

/** The bar is decorative. */
function Bar({ part, whole, children }: { part: number; whole: number; children: ComponentChildren }) {
  return (
    <>
      <svg class="stratum" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect x="0" y="0" width={whole === 0 ? 0 : Math.round((part * 100) / whole)} height="8" />
      </svg>
      <span class="figure">{children}</span>
    </>
  )
}

/** Formats whole paise. A sum may be too large for words. */
function sumText(paise: string): string {
  const sum = Number(paise)
  return Number.isSafeInteger(sum) ? inrText(sum) : `${BigInt(paise) / 1_000_000_000n} crore`
}
