import type { IntegrationForSending } from '#shared/monitoring/notifications/sending-store.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { NotifierDeps } from './notifier-deps.ts'

/** The configuration of an integration; undefined when its keys are gone, or it is damaged. */
export function decryptConfig(
  { secrets, log }: Pick<NotifierDeps, 'secrets' | 'log'>,
  channel: Pick<IntegrationForSending, 'kind' | 'sealedConfig'>,
): unknown {
  try {
    return JSON.parse(secrets.open('integration', channel.sealedConfig))
  } catch (error) {
    log.error({ kind: channel.kind, ...describeError(error) }, 'channel.not-readable')
    return undefined
  }
}
