import { words } from '#shared/risk/packs/pdf/figures.ts'
import { fieldLabels } from '../identity/field-labels.ts'
import { Tier } from '../tiers.tsx'
import { Table } from './parts.tsx'
import type { AnchoredRecord } from './record-anchor.tsx'

/** A verification of a business, as it was anchored. */
export interface Verification extends AnchoredRecord {
  verificationId: string
  vei: string | null
  checks: { key: string; tier: string; result: string; detail: string }[]
}

/** `gstin.legalName` as people read it: `GSTIN: legal name`. */
function checkName(key: string): string {
  const [of = '', what] = key.split('.')
  const subject = /^(gstin|cin|lei|pan|llpin|udyam)$/.test(of) ? of.toUpperCase() : fieldLabels(of)
  return what === undefined ? subject : `${subject.charAt(0).toUpperCase()}${subject.slice(1)}: ${fieldLabels(what)}`
}

/** What each check of a verification found. */
export function Checks({ checks }: Pick<Verification, 'checks'>) {
  return (
    <Table label="Checks" columns={['Check', 'Result', 'Tier', 'Detail']}>
      {checks.map(({ key, result, tier, detail }) => (
        <tr key={key}>
          <td title={key}>{checkName(key)}</td>
          <td>
            <span class={result === 'MISMATCH' ? 'pill bad' : result === 'MATCH' ? 'pill good' : 'pill'}>
              {result.toLowerCase()}
            </span>
          </td>
          <td>
            <Tier tier={tier} />
          </td>
          <td>{/^[A-Z][A-Z_]+$/.test(detail) ? words(detail) : detail}</td>
        </tr>
      ))}
    </Table>
  )
}
