import type { AlertedIntegration } from '#shared/monitoring/alerting/fact-store.ts'
import type { FactIntegration } from '#shared/monitoring/alerting/incident.ts'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import { keepsRecord } from '#shared/monitoring/integrations/readers.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { WorkerDeps } from '../define-worker.ts'

export type ReadIntegration = (channel: AlertedIntegration) => Omit<FactIntegration, 'isOwn' | 'isOverReserve'>

/** Opens the configuration of integrations, once each, to see what they have something to do for. */
export function createReadIntegration({ secrets, log }: Pick<WorkerDeps, 'secrets' | 'log'>): ReadIntegration {
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
