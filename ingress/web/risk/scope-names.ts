const NAMES: Readonly<Record<string, string>> = {
  'acceptance:read': 'Read acceptances and dilution',
  'acceptance:write': 'Record acceptances',
  'agents:invoke': 'Call agent tools',
  'agents:manage': 'Create and revoke agent keys',
  'colending:read': 'Read imports and loan evidence',
  'colending:write': 'Import loan tapes and change mappings',
  'first-financing:check': 'Check whether a receivable is registered',
  'first-financing:register': 'Register and release receivables',
  'identity:read': 'Read identities and consents',
  'identity:write': 'Verify identities and issue passports',
  'kyb:read': 'Verify businesses and read their records',
  'kyb:write': 'Create businesses and change their records',
  'monitoring:read': 'Read checks and incidents',
  'monitoring:write': 'Create and pause checks, acknowledge incidents',
  'risk-signals:read': 'Read risk signals packs',
  'risk-signals:run': 'Request risk signals packs',
  'trade:read': 'Read and verify trade evidence',
  'trade:write': 'Submit trade documents and issue packs',
  'usage:read': 'Read the metered usage',
  'webhooks:manage': 'Change webhook endpoints',
}

/** Returns an unknown scope unchanged. */
export function scopeName(scope: string): string {
  return NAMES[scope] ?? scope
}
