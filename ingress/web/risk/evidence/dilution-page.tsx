import { parseWith } from '#shared/parse-with.ts'
import type { AntiDilution } from '#shared/risk/acceptance/anti-dilution.ts'
import { DilutionQuery } from '#shared/risk/acceptance/dilution-query.ts'
import { runDilution } from '#shared/risk/operations/acceptance-requests.ts'
import { inrFigure, words } from '#shared/risk/packs/pdf/figures.ts'
import { type Column, PageHead, Table } from '../../lists/list.tsx'
import { Crumb, Fact } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { ActionButton } from '../actions.tsx'
import { sendConsole } from '../console.tsx'
import { Tier } from '../tiers.tsx'
import { requireFamily } from './form.tsx'
import { WAIT_MS } from './job-context.ts'
import { monthText, percentText } from './names.ts'
import { sendPending } from './parts.tsx'

export async function showDilution(context: Context): Promise<void> {
  const console = await requireFamily(context, 'risk-signals')
  const { deps, query } = context
  const page = { area: 'acceptance', title: 'Dilution' } as const
  const { organisationId, env } = console
  const pair = parseWith(DilutionQuery, Object.fromEntries(query), 'the address')
  const answer = await runDilution({ caller: { organisationId, env }, deps, waitMs: WAIT_MS }, pair)
  if (answer.status === 202) return sendPending(context, console, page)
  // Stored as we answered it.
  const measured = JSON.parse(answer.body) as AntiDilution
  const another = { label: 'Measure another pair', href: `${console.base}/acceptance/measure` }
  sendConsole(
    context,
    console,
    page,
    <>
      <Crumb href={`${console.base}/acceptance`} label="Acceptance" />
      <PageHead title="Dilution" more={<ActionButton context={context} action={another} />} />
      <p>
        <strong>{resultOf(measured)}</strong>
      </p>
      <dl class="facts">
        <Fact title="Supplier">{measured.supplierGstin}</Fact>
        <Fact title="Buyer">{measured.buyerGstin}</Fact>
        <Fact title="Tier">
          <Tier tier={measured.tier} />
        </Fact>
        {measured.missingReason === null && (
          <>
            <Fact title="Months known">{measured.monthsKnown}</Fact>
            <Fact title="Invoiced">{inrFigure(measured.grossValueInr)}</Fact>
            <Fact title="Credit notes">
              {`${inrFigure(measured.creditNoteValueInr)}, ${percentText(measured.creditNoteRatioBps)} of the invoiced amount`}
            </Fact>
          </>
        )}
        {measured.worstMonth && (
          <Fact title="Worst month">{`${monthText(measured.worstMonth.month)}: ${percentText(measured.worstMonth.ratioBps)}`}</Fact>
        )}
        <Fact title="Disputes">{`${measured.disputes.open} open, ${inrFigure(measured.disputes.valueInr)}`}</Fact>
        <Fact title="Rules">{measured.policyVersion}</Fact>
      </dl>
      <Table
        label="Observations"
        variant="wide-table stacked"
        columns={OBSERVATION_COLUMNS}
        rows={measured.observations}
      />
    </>,
  )
}

function resultOf({ missingReason, observations }: AntiDilution): string {
  if (missingReason !== null) return `The tax return could not be read: ${words(missingReason)}.`
  if (observations.length === 0) return 'No figure exceeds its threshold.'
  return `${observations.length === 1 ? 'One figure exceeds its' : `${observations.length} figures exceed their`} threshold.`
}

/** Observations whose figures are hundredths of a percent. */
const RATIOS = new Set(['CREDIT_NOTES_HIGH', 'CREDIT_NOTE_SPIKE', 'NOTE_LARGE'])

const figureOf = (code: string, value: number) => (RATIOS.has(code) ? percentText(value) : value)

const OBSERVATION_COLUMNS: Column<AntiDilution['observations'][number]>[] = [
  { title: 'Observation', hint: ({ code }) => code, cell: ({ text }) => text },
  { title: 'Observed', isLabelled: true, variant: 'figure', cell: ({ code, observed }) => figureOf(code, observed) },
  { title: 'Threshold', isLabelled: true, variant: 'figure', cell: ({ code, threshold }) => figureOf(code, threshold) },
]
