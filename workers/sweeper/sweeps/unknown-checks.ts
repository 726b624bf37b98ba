import { endUnknowns } from '#shared/monitoring/availability/extension-store.ts'
import type { Sweep } from '../sweep.ts'

/** Follows checks that became unknown by a gap of ours, until they are heard again or go down. */
export const unknownChecks: Sweep = {
  name: 'unknown-checks',
  everySeconds: 10,
  async run({ deps }) {
    await endUnknowns(deps.reserveDb)
  },
}
