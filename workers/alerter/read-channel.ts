import type { AlertedChannel } from '#shared/monitoring/alerting/fact-store.ts'
import type { FactChannel } from '#shared/monitoring/alerting/incident.ts'
import { findKind } from '#shared/monitoring/channels/kinds.ts'
import { keepsRecord } from '#shared/monitoring/channels/readers.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { WorkerDeps } from '../define-worker.ts'

export type ReadChannel = (channel: AlertedChannel) => Omit<FactChannel, 'isOwn' | 'isOverReserve'>

/** Opens the configuration of integrations, once each, to see what they have something to do for. */
export function createReadChannel({ secrets, log }: Pick<WorkerDeps, 'secrets' | 'log'>): ReadChannel {
  return ({ id, uuid, kind, sealedConfig, isDisabled }) => ({
    id,
    uuid,
    isDisabled,
    ignores: ignoresOf(kind, sealedConfig),
    keepsRecord: keepsRecord(kind),
  })

  function ignoresOf(kind: string, sealedConfig: string): { up: boolean; down: boolean } {
    try {
      const config: unknown = JSON.parse(secrets.open('integration', sealedConfig))
      const rules = findKind(kind)
      return { up: rules?.isNoop(config, 'up') ?? false, down: rules?.isNoop(config, 'down') ?? false }
    } catch (error) {
      // It must not silence its neighbours: it gets its notification, whose attempt says what is wrong.
      log.error({ kind, ...describeError(error) }, 'channel.not-readable')
      return { up: false, down: false }
    }
  }
}
