import type { Verification } from './parts.tsx'

interface Identifier {
  type: string
  value: string
}

/** In the order in which they name a business; other identifiers follow. */
const NAMING = ['gstin', 'cin', 'llpin', 'lei', 'udyam', 'iec', 'pan']

export function mainIdentifier(identifiers: readonly Identifier[]): Identifier | undefined {
  const named = NAMING.map((type) => identifiers.find((one) => one.type === type))
  return named.find((one) => one !== undefined) ?? identifiers[0]
}

export function identifierName(type: string): string {
  return type === 'udyam' ? 'Udyam' : type.toUpperCase()
}

/** Returns the best known identifier, because no legal name is stored. Identifiers of persons are not shown. */
export function entityName(entity: {
  isPerson: boolean
  erasedAt: Date | null
  identifiers: readonly Identifier[]
}): string {
  if (entity.erasedAt !== null) return 'Erased person'
  if (entity.isPerson) return 'Person'
  const main = mainIdentifier(entity.identifiers)
  return main === undefined ? 'Business' : `${identifierName(main.type)} ${main.value}`
}

/** Summarises a verification: mismatches first, then missing values. */
export function ChecksResult({ checks }: Pick<Verification, 'checks'>) {
  const counted = (name: string) => checks.filter(({ result }) => result === name).length
  const [mismatches, missing] = [counted('MISMATCH'), counted('MISSING')]
  if (checks.length === 0) return <span class="pill">not verified</span>
  if (mismatches > 0)
    return (
      <span class="pill bad">{`${mismatches} of ${checks.length} checks ${mismatches === 1 ? 'differs' : 'differ'}`}</span>
    )
  if (missing > 0) return <span class="pill late">{`${missing} of ${checks.length} checks missing`}</span>
  return <span class="pill good">{checks.length === 1 ? '1 check matches' : `all ${checks.length} checks match`}</span>
}
