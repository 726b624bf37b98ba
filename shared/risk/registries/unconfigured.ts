import type { Registry } from './connector.ts'

/** A registry that nobody configured: every question is answered MISSING/NOT_ENTITLED, and nothing is contacted. */
export function unconfiguredRegistry<Input, T>(name: string, now: () => number): Registry<Input, T> {
  const connectorVersion = '1.0.0'
  return {
    name,
    connectorVersion,
    async fetch() {
      return {
        status: 'MISSING',
        tier: 'MISSING',
        data: null,
        missingReason: 'NOT_ENTITLED',
        source: name,
        observedAt: new Date(now()).toISOString(),
        asOf: null,
        consent: null,
        rawSha256: null,
        latencyMs: 0,
        attempts: 0,
        connectorVersion,
      }
    },
  }
}
