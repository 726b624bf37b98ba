import { anchorAgentCalls } from '#shared/risk/operations/anchor-agent-calls.ts'
import type { Sweep } from '../sweep.ts'

/** Anchors the calls of agent tools, day by day, once a UTC day has ended. */
export const agentDigests: Sweep = {
  name: 'agent-digests',
  everySeconds: 60,
  async run({ deps, now }) {
    await anchorAgentCalls(deps.reserveDb, now)
  },
}
