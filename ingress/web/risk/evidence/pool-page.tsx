import { listKnownEntities } from '#shared/risk/businesses/store.ts'
import { requirePool, runCutJob } from '#shared/risk/operations/pool-requests.ts'
import { dayText } from '#shared/risk/packs/pdf/figures.ts'
import { verificationUrl } from '#shared/risk/packs/pdf/proof.ts'
import { findCut, listCuts, listMembers, newestCut, type Pool, type PoolCut } from '#shared/risk/pools/store.ts'
import type { Stratification } from '#shared/risk/pools/strata.ts'
import type { Receivable } from '#shared/risk/receivables/evidence-object.ts'
import { isUuid } from '#shared/uuid.ts'
import { type Column, PageHead, Table } from '../../lists/list.tsx'
import { Copyable, Crumb, Fact } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { NextAction } from '../actions.tsx'
import { type Console, loadConsole, mayIn, sendConsole } from '../console.tsx'
import { count, counted } from '../counts.ts'
import { type Cut, Strata, sumText } from './pool-strata.tsx'
import { proveRecord, RecordAnchor } from './record-anchor.tsx'

const MAX_CUTS = 50
const MAX_RECEIVABLES = 20
const POLL_SECONDS = 2

export function EvidenceState({ pool: { size, built } }: { pool: Pool }) {
  if (size === 0) return <>—</>
  if (built === size) return <span class="pill good">complete</span>
  return (
    <span class="pill">
      {count(built)} of {count(size)}
    </span>
  )
}

/** Reloads itself until evidence, sums and the position in the log are known. */
export async function showPool(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, config } = context.deps
  const pool = await requirePool(db, console, context.params.pool ?? '')
  const shown = await chosen(context, console, pool)
  // Stored by us.
  const cuts = (await listCuts(db, pool.id, MAX_CUTS)).map((body) => JSON.parse(body) as Cut)
  const cut = shown && (JSON.parse(shown.body) as Cut)
  const strata = shown && (await strataOf(context, console, shown))
  const buyers = strata?.topBuyers.map(({ buyerVei }) => buyerVei) ?? []
  const known = new Set(await listKnownEntities(db, console, buyers))
  const proven = cut && (await proveRecord(db, cut))
  const members = await listMembers(db, pool.id, 0, MAX_RECEIVABLES)
  const isOpen = pool.built < pool.size || (shown !== undefined && (!strata || !proven || proven.place === null))
  const isCutDue = pool.built === pool.size && cuts[0]?.size !== pool.size
  const base = `${console.base}/pools/${pool.id}`
  sendConsole(
    context,
    console,
    { area: 'pools', title: pool.name, ...(isOpen ? { pollSeconds: POLL_SECONDS } : {}) },
    <>
      <Crumb href={`${console.base}/pools`} label="Pools" />
      <PageHead
        title={pool.name}
        actions={
          mayIn(console, 'edit')
            ? [
                { href: `${base}/cut`, label: 'Create a cut', isSecondary: !isCutDue },
                { href: `${base}/add`, label: 'Add receivables', isSecondary: true },
              ]
            : []
        }
      />
      <dl class="facts">
        <Fact title="Deal">{pool.dealId ?? '—'}</Fact>
        <Fact title="Receivables">{count(pool.size)}</Fact>
        <Fact title="With evidence">{`${count(pool.built)} of ${count(pool.size)}`}</Fact>
      </dl>
      <State context={context} console={console} pool={pool} newest={cuts[0]} />
      {cuts.length > 0 && <h2>Cuts</h2>}
      <Table label="Cuts" variant="stacked" columns={cutColumns(base, cut)} rows={cuts} />
      {cut && (
        <>
          <h2>Cut of {dayText(cut.cutOffDate)}</h2>
          <CutFacts base={base} cut={cut} isIncluded={proven?.place != null} strata={strata} />
          {strata ? (
            <Strata strata={strata} console={console} known={known} />
          ) : (
            <p class="notice" role="status">
              The sums of the cut are being computed.
            </p>
          )}
        </>
      )}
      {members.length > 0 && <h2>Receivables</h2>}
      <Table
        label="Receivables"
        variant="stacked"
        columns={memberColumns(config.publicUrl)}
        rows={members.map(({ reference, body }) => ({ reference, ...(JSON.parse(body) as Receivable) }))}
      />
      {pool.size > members.length && members.length === MAX_RECEIVABLES && (
        <p class="hint">
          The first {MAX_RECEIVABLES} of {count(pool.size)}. The tape of a cut has all of them.
        </p>
      )}
      {proven && (
        <RecordAnchor proven={proven} publicUrl={config.publicUrl} env={console.env} title="Anchor of the cut" />
      )}
    </>,
  )
}

/** Shows what the pool waits for, or what to do next. */
function State(props: { context: Context; console: Console; pool: Pool; newest: Cut | undefined }) {
  const { context, console, pool, newest } = props
  const { id, size, built } = pool
  if (built < size) {
    return (
      <p class="notice" role="status">
        Evidence is being recorded: {count(built)} of {counted(size, 'receivable')}. This page updates itself.
      </p>
    )
  }
  if (newest === undefined) {
    return (
      <NextAction
        context={context}
        text="All evidence is recorded. A cut freezes the receivables at a date, for investors to verify."
        actions={mayIn(console, 'edit') ? [{ href: `${console.base}/pools/${id}/cut`, label: 'Create a cut' }] : []}
      />
    )
  }
  if (newest.size === size) return null
  return (
    <p class="notice">
      {counted(size - newest.size, 'receivable')} added after the newest cut. Create a new cut to include them.
    </p>
  )
}

function cutColumns(base: string, shown: Cut | undefined): Column<Cut>[] {
  return [
    {
      title: 'Cut-off date',
      cell: ({ cutRecordId, cutOffDate }) => (
        <a href={`${base}?cut=${cutRecordId}`} aria-current={cutRecordId === shown?.cutRecordId ? 'true' : undefined}>
          {dayText(cutOffDate)}
        </a>
      ),
    },
    { title: 'Receivables', isNumber: true, isLabelled: true, cell: ({ size }) => count(size) },
    { title: 'Sum', isNumber: true, isLabelled: true, cell: ({ sumPaise }) => sumText(sumPaise) },
    {
      title: 'Shown below',
      isTitleHidden: true,
      cell: (cut) => (cut.cutRecordId === shown?.cutRecordId ? 'shown below' : ''),
    },
  ]
}

/** The package contains the proof of the log, so it needs a log that includes the cut. */
function CutFacts(props: { base: string; cut: Cut; isIncluded: boolean; strata: Stratification | undefined }) {
  const { base, cut, isIncluded, strata } = props
  const files = `${base}/cuts/${cut.cutRecordId}`
  return (
    <>
      <p class="row">
        {isIncluded ? (
          <a class="button primary" href={`${files}/package.zip`}>
            Package for investors (ZIP)
          </a>
        ) : (
          <span class="muted">The package is available once the log includes the cut.</span>
        )}
        <a class="button" href={`${files}/tape.csv`}>
          Tape (CSV)
        </a>
      </p>
      <p class="muted">
        Send the package to an investor. Anyone can check it on the <a href="/verify">verification page</a>, without an
        account.
      </p>
      <dl class="facts">
        <Fact title="Receivables">{count(cut.size)}</Fact>
        <Fact title="Sum">{sumText(cut.sumPaise)}</Fact>
        {strata && (
          <Fact title="Average days to due, by amount">
            {strata.weightedDays === null ? 'unknown: no receivable has a due date' : `${strata.weightedDays} days`}
          </Fact>
        )}
        <Fact title="Root over all receivables">
          <Copyable text={cut.root} label="the root" />
        </Fact>
      </dl>
    </>
  )
}

function memberColumns(publicUrl: string): Column<Receivable & { reference: string }>[] {
  return [
    { title: 'Reference', variant: 'mono breakable', cell: ({ reference }) => reference },
    { title: 'Amount', isNumber: true, isLabelled: true, cell: ({ amountInr }) => amountText(amountInr) },
    {
      title: 'Document date',
      isLabelled: true,
      cell: ({ issueDate }) => (issueDate === null ? '—' : dayText(issueDate)),
    },
    { title: 'Due', isLabelled: true, cell: ({ dueDate }) => (dueDate === null ? '—' : dayText(dueDate)) },
    {
      title: 'Evidence',
      isLabelled: true,
      cell: ({ anchor, reference }) => (
        <a href={verificationUrl(publicUrl, anchor.txId)} aria-label={`Check this record: ${reference}`}>
          Check this record
        </a>
      ),
    },
  ]
}

const inr = new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR' })
const amountText = (amount: number | null) => (amount === null ? '—' : inr.format(amount))

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
