import { delivered, temporary } from '#shared/delivery/outcome.ts'
import { group } from '#shared/monitoring/integrations/kinds/group.ts'
import { defineTransport } from './transport.ts'

/** Several at once. Members retry by themselves, so what failed there is told here and not repeated. */
export const groupTransport = defineTransport(group, async ({ sendToMembers }, config, notification) => {
  const outcomes = await sendToMembers(config.channels, notification)
  const failed = outcomes.filter((outcome) => outcome.result !== 'delivered').length
  if (failed === 0) return delivered
  return temporary(`${failed} out of ${outcomes.length} notifications failed`, { failure: 'refused', final: true })
})
