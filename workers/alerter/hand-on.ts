import { claimFlips, markProcessed } from '#shared/monitoring/alerting/flip-store.ts'
import { type AssignedChannel, assignedChannels, insertTellings } from '#shared/monitoring/alerting/telling-store.ts'
import { findKind } from '#shared/monitoring/channels/kinds.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { WorkerDeps } from '../define-worker.ts'

/** Flips of one transaction. */
const PAGE = 2_000

type AlerterDeps = Pick<WorkerDeps, 'db' | 'outbox' | 'secrets' | 'log' | 'crashPoint'>

/**
 * Hands on one page of flips: claims them, reads what it must know of them with one statement each, and stores
 * notifications, their messages and that the flips are done, all in one transaction.
 * @returns how many flips were handed on; 0 when none is left that others do not hold
 */
export async function handOn(deps: AlerterDeps): Promise<number> {
  const { claimed, messages } = await transaction(deps.db, async (tx) => {
    const flips = await claimFlips(tx, PAGE)
    if (flips.length === 0) return { claimed: 0, messages: [] }
    deps.crashPoint('after-claim')
    const channels = await assignedChannels(tx, [...new Set(flips.map(({ checkId }) => checkId))])
    const wants = createWants(deps)
    const byCheck = Map.groupBy(channels, ({ checkId }) => checkId)
    const tellings = flips.flatMap(({ id, checkId, to }) =>
      (byCheck.get(checkId) ?? [])
        .filter((channel) => wants(channel, to))
        .map((channel) => ({ flipId: id, checkId, channelId: channel.id, status: to })),
    )
    const messages = await insertTellings(tx, tellings)
    await markProcessed(
      tx,
      flips.map(({ id }) => id),
    )
    deps.crashPoint('before-commit')
    return { claimed: flips.length, messages }
  })
  if (claimed > 0) deps.crashPoint('after-commit')
  deps.outbox.publishLater(messages)
  return claimed
}

/** Whether an integration has anything to do for a change. Its configuration is opened once, whoever asks. */
function createWants({ secrets, log }: AlerterDeps) {
  const known = new Map<number, { up: boolean; down: boolean }>()
  const look = ({ kind, sealedConfig }: AssignedChannel) => {
    try {
      const config: unknown = JSON.parse(secrets.open('integration', sealedConfig))
      const rules = findKind(kind)
      return { up: !rules?.isNoop(config, 'up'), down: !rules?.isNoop(config, 'down') }
    } catch (error) {
      // It must not silence its neighbours: it gets its notification, whose attempt says what is wrong.
      log.error({ kind, ...describeError(error) }, 'channel.not-readable')
      return { up: true, down: true }
    }
  }
  return (channel: AssignedChannel, status: 'up' | 'down'): boolean => {
    const directions = known.get(channel.id) ?? look(channel)
    known.set(channel.id, directions)
    return directions[status]
  }
}
