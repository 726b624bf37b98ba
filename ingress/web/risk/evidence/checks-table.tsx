import { Tier } from '../tiers.tsx'
import { Table } from './parts.tsx'
import type { AnchoredRecord } from './record-anchor.tsx'

/** A verification of a business, as it was anchored. */
export interface Verification extends AnchoredRecord {
  verificationId: string
  vei: string | null
  checks: { key: string; tier: string; result: string; detail: string }[]
}

/** What each check of a verification found. */
export function Checks({ checks }: Pick<Verification, 'checks'>) {
  return (
    <Table label="Checks" columns={['Check', 'Result', 'Tier', 'Detail']}>
      {checks.map(({ key, result, tier, detail }) => (
        <tr key={key}>
          <td class="mono">{key}</td>
          <td>
            <span class={result === 'MISMATCH' ? 'pill bad' : result === 'MATCH' ? 'pill good' : 'pill'}>
              {result.toLowerCase()}
            </span>
          </td>
          <td>
            <Tier tier={tier} />
          </td>
          <td>{detail}</td>
        </tr>
      ))}
    </Table>
  )
}
