import { type Outcome, permanent, temporary } from '#shared/delivery/outcome.ts'
import { updateIntegrationRow } from '#shared/monitoring/integrations/store.ts'
import { type Claim, renewLeases } from '#shared/monitoring/notifications/attempt-store.ts'
import {
  bounceAddress,
  callbackPath,
  signedOfBounce,
  signedOfCallback,
} from '#shared/monitoring/notifications/callbacks.ts'
import { batched } from '#shared/platform/process/batch.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { createBuild } from './build-notification.ts'
import { createMembers } from './members.ts'
import type { NotifierDeps } from './notifier-deps.ts'
import { transports } from './transports/registry.ts'
import type { TransportContext } from './transports/transport.ts'

/** Stored by a version that knew more kinds than this one. */
const UNKNOWN_KIND = permanent('This kind of integration is not known', { failure: 'config' })
/** Ours to mend. It is tried again like any other failure, and so ends at last. */
export const INTERNAL_ERROR = temporary('Internal error', { failure: 'internal' })
/** Not the integration's fault, and nothing is left to record it on: its notifications went with the check. */
export const CHECK_GONE = temporary('The check was deleted', { failure: 'limit', final: true })
export const OVERTAKEN = temporary('Another attempt has taken over', { failure: 'limit' })

const BATCH = { largest: 100, start: setImmediate }

type SendDeps = Pick<NotifierDeps, 'db' | 'config' | 'secrets' | 'log' | 'http' | 'gatewayHttp' | 'mailer' | 'now'>

/**
 * Builds the message and hands it to the transport of its kind, as the last thing asking whether the lease still holds.
 * @param attempt makes the attempts of a group's members
 */
export function createSend(
  deps: SendDeps,
  attempt: (id: string) => Promise<Outcome>,
): (claim: Claim, integrationConfig: unknown) => Promise<Outcome> {
  const { db, log } = deps
  const build = createBuild(deps)
  const holdsLease = batched((claims: readonly Claim['claimed'][]) => renewLeases(db, claims), BATCH)
  const settings = settingsOf(deps)

  return async (claim, integrationConfig) => {
    const { claimed, channel } = claim
    const transport = transports.get(channel.kind)
    const notification = await build(claim)
    if (!notification) return CHECK_GONE
    if (!transport) return UNKNOWN_KIND
    if (!(await holdsLease(claimed))) return OVERTAKEN
    try {
      return await transport.send(contextFor(claim), integrationConfig, notification)
    } catch (error) {
      log.error({ notificationId: claimed.id, kind: channel.kind, ...describeError(error) }, 'transport.failed')
      return INTERNAL_ERROR
    }
  }

  function contextFor({ claimed, channel }: Claim): TransportContext {
    return {
      http: deps.http,
      gatewayHttp: deps.gatewayHttp,
      mailer: deps.mailer,
      settings,
      now: Date.now,
      saveConfig: async (changed) => {
        await updateIntegrationRow(db, claimed.integrationId, {
          sealedConfig: deps.secrets.seal('integration', JSON.stringify(changed)),
        })
      },
      sendToMembers: createMembers(deps, claimed, channel.projectId, attempt),
    }
  }
}

function settingsOf({ config, secrets }: Pick<NotifierDeps, 'config' | 'secrets'>): TransportContext['settings'] {
  const { siteName, twilioUrl: url, twilioAccount: account, twilioAuth: auth, twilioFrom: from } = config
  const { bounceDomain, publicUrl } = config
  const isSet = account !== undefined && auth !== undefined && from !== undefined
  return {
    siteName,
    twilio: isSet ? { url, account, auth, from } : null,
    appriseUrl: config.appriseUrl ?? null,
    mayRunCommands: config.shellEnabled,
    ...(bounceDomain !== undefined && {
      bounceAddressOf: (id: string) => bounceAddress(id, secrets.digest(signedOfBounce(id)), bounceDomain),
    }),
    // A gateway refuses a message whose callback it could not reach.
    ...(publicUrl.startsWith('https:') && {
      callbackUrlOf: (id: string) => publicUrl + callbackPath(id, secrets.digest(signedOfCallback(id))),
    }),
  }
}
