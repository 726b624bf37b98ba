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

/** Returns an unknown code unchanged. */
export function familyName(family: string): string {
  return NAMES[family] ?? family
}
