import type { TradeCheck } from '#shared/risk/trade/checks.ts'
import type { TradeDocument } from '#shared/risk/trade/trade-pack.ts'
import type { Column } from '../../lists/list.tsx'
import { type Console, mayIn } from '../console.tsx'
import { Tier } from '../tiers.tsx'
import { codeName } from './names.ts'
import { checkName } from './parts.tsx'

export type Link = readonly [path: string, label: string]

export const RECORD: Link = ['/documents/new', 'Record a document']
export const BUILD: Link = ['/packs/new', 'Build a pack']
export const VERIFY: readonly Link[] = [
  ['/verify/shipping-bill', 'Verify a shipping bill'],
  ['/verify/ebrc', 'Verify an e-BRC'],
  ['/verify/iec', 'Verify an exporter code'],
]

export const linkIn = (console: Console, [path, label]: Link) => ({ href: `${console.base}/trade${path}`, label })
export const actionIn = (console: Console, link: Link) => (mayIn(console, 'edit') ? linkIn(console, link) : null)

/** Members of a document in a pack. */
export type PackDocument = Pick<TradeDocument, 'documentId' | 'type' | 'sha256' | 'tier'>

export function documentColumns(console: Console): Column<PackDocument>[] {
  return [
    {
      title: 'Document',
      cell: ({ documentId, type }) => <a href={`${console.base}/trade/documents/${documentId}`}>{codeName(type)}</a>,
    },
    { title: 'SHA-256', variant: 'mono breakable', isLabelled: true, cell: ({ sha256 }) => sha256 },
    { title: 'Tier', isLabelled: true, cell: ({ tier }) => <Tier tier={tier} /> },
  ]
}

/** Shows how many checks match, and names the others. */
export function Outcome({ checks }: { checks: readonly TradeCheck[] }) {
  const matches = checks.filter(({ result }) => result === 'MATCH').length
  const others = checks.filter(({ result }) => result !== 'MATCH')
  const isWrong = others.some(({ result }) => result === 'MISMATCH')
  const pill = others.length === 0 ? 'pill good' : isWrong ? 'pill bad' : 'pill'
  return (
    <>
      <span class={pill}>
        {matches} of {checks.length} match
      </span>{' '}
      {others.map(({ key, result }) => `${checkName(key)}: ${result.toLowerCase()}`).join(', ')}
    </>
  )
}
