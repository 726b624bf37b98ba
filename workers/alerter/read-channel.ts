import type { AlertedChannel } from '#shared/monitoring/alerting/fact-store.ts'
import type { FactChannel } from '#shared/monitoring/alerting/incident.ts'
import { findKind } from '#shared/monitoring/channels/kinds.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { WorkerDeps } from '../define-worker.ts'

export type ReadChannel = (channel: AlertedChannel) => Omit<FactChannel, 'isOwn' | 'isOverReserve'>

/** Kinds that open something in an outside system, which the recovery closes. */
const KEEPS_RECORD: ReadonlySet<string> = new Set(['pd', 'opsgenie', 'victorops', 'pagertree', 'spike', 'webhook'])

/** Opens the configuration of integrations, once each, to see what they have something to do for. */
export function createReadChannel({ secrets, log }: Pick<WorkerDeps, 'secrets' | 'log'>): ReadChannel {
  return ({ id, uuid, kind, sealedConfig, isDisabled }) => ({
    id,
    uuid,
    isDisabled,
    ignores: ignoresOf(kind, sealedConfig),
    keepsRecord: KEEPS_RECORD.has(kind),
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
