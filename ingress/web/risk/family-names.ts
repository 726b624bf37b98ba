/** Names of the families by their API codes. */
const NAMES: Readonly<Record<string, string>> = {
  identity: 'Identity',
  kyb: 'Business verification',
  'first-financing': 'First financing',
  'risk-signals': 'Risk signals packs',
  acceptance: 'Buyer acceptance',
  trade: 'Trade provenance',
  colending: 'Co-lending and loan tapes',
  securitisation: 'Securitisation pools',
  integration: 'Integration (nothing offered yet)',
  agents: 'Agent tools',
}

/** A family in words; a code that has none stays as it is. */
export function familyName(family: string): string {
  return NAMES[family] ?? family
}
