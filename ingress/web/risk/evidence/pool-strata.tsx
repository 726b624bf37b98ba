import type { ComponentChildren } from 'preact'
import { inrText } from '#shared/risk/packs/money.ts'
import type { Stratification, Stratum } from '#shared/risk/pools/strata.ts'
import { type Column, PlainTable } from '../../lists/list.tsx'
import { Card } from '../../shell/basics.tsx'
import type { Console } from '../console.tsx'
import { Tier } from '../tiers.tsx'
import { codeName, percentText } from './names.ts'
import type { AnchoredRecord } from './record-anchor.tsx'

export interface Cut extends AnchoredRecord {
  cutRecordId: string
  cutOffDate: string
  size: number
  root: string
  sumPaise: string
}

/** @param known entity identifiers of buyers that have a page in this console */
export function Strata(props: { strata: Stratification; console: Console; known: ReadonlySet<string> }) {
  const { strata, console, known } = props
  const { size, topBuyers } = strata
  return (
    <div class="side-by-side">
      <Bands title="Amount" band="Amount (₹)" size={size} strata={strata.amount} missing="no amount" />
      <Bands title="Days to due" band="Days" size={size} strata={strata.daysToDue} missing="no due date" />
      <Bands title="Acceptance by buyers" band="State" size={size} strata={strata.acceptance} missing="not recorded" />
      <Bands
        title="Evidence tier"
        band="Tier"
        size={size}
        strata={strata.tier}
        nameOf={(tier) => <Tier tier={tier} />}
      />
      <Card title="Largest buyers">
        <PlainTable
          columns={[
            {
              title: 'Buyer',
              variant: 'mono breakable',
              cell: ({ buyerVei }) =>
                known.has(buyerVei) ? <a href={`${console.base}/businesses/${buyerVei}`}>{buyerVei}</a> : buyerVei,
            },
            {
              title: 'Share',
              cell: ({ bps }) => (
                <Bar part={bps} whole={10_000}>
                  {percentText(bps)}
                </Bar>
              ),
            },
            { title: 'Sum', isNumber: true, cell: (buyer) => sumText(buyer.sumPaise) },
          ]}
          rows={topBuyers}
        />
        <p class="hint">
          By entity identifier, because a pool stores no names. A buyer that you verified links to its page.
        </p>
      </Card>
    </div>
  )
}

function Bands(props: {
  title: string
  band: string
  size: number
  strata: readonly Stratum[]
  missing?: string
  nameOf?: (band: string) => ComponentChildren
}) {
  const { title, band: heading, size, strata, missing = 'missing' } = props
  const { nameOf = (band: string) => (band === 'MISSING' ? missing : bandName(band)) } = props
  const columns: Column<Stratum>[] = [
    { title: heading, cell: ({ band }) => nameOf(band) },
    {
      title: 'Receivables',
      cell: (stratum) => (
        <Bar part={stratum.count} whole={size}>
          {stratum.count}
        </Bar>
      ),
    },
    { title: 'Sum', isNumber: true, cell: ({ sumPaise }) => sumText(sumPaise) },
  ]
  return (
    <Card title={title}>
      <PlainTable columns={columns} rows={strata} />
    </Card>
  )
}

/** `UP_TO_1_LAKH` is `up to 1 lakh`. */
const bandName = (band: string) => (/[0-9]/.test(band) ? band.replaceAll('_', ' ').toLowerCase() : codeName(band))

/** The bar is decorative. */
function Bar({ part, whole, children }: { part: number; whole: number; children: ComponentChildren }) {
  return (
    <span class="together">
      <svg class="stratum" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect x="0" y="0" width={whole === 0 ? 0 : Math.round((part * 100) / whole)} height="8" />
      </svg>
      <span class="figure">{children}</span>
    </span>
  )
}

/** Formats whole paise. A sum may be too large for words. */
export function sumText(paise: string): string {
  const sum = Number(paise)
  return Number.isSafeInteger(sum) ? inrText(sum) : `${BigInt(paise) / 1_000_000_000n} crore`
}
