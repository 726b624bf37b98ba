import type { Router } from 'express'
import { confirmRecipient } from '#shared/monitoring/operations/confirm-recipient.ts'
import { decryptConfig } from '#shared/monitoring/operations/integration-config.ts'
import { confirmText, recipientOf } from '#shared/monitoring/operations/recipients.ts'
import type { IngressDeps } from '../../../deps.ts'
import { createRecipientRouter } from './recipient-page.tsx'

/** The link that the recipient of an e-mail integration agrees by. Another address in its place ends it. */
export function createConfirmRouter(deps: IngressDeps): Router {
  const addressOf = (channel: { kind: string; sealedConfig: string }) =>
    recipientOf(channel.kind, decryptConfig(channel, deps.secrets)) ?? ''
  return createRecipientRouter(deps, {
    name: 'confirm',
    signed: (channel) => confirmText(channel.uuid, addressOf(channel)),
    run: confirmRecipient,
    title: 'Alerts by mail',
    page: ({ projectName, address }, isDone) =>
      isDone ? (
        <>
          <h1>You get alerts from now on</h1>
          <p>Every mail of {projectName} ends with a link by which you can stop them.</p>
        </>
      ) : (
        <>
          <h1>Do you want alerts of {projectName}?</h1>
          <p class="breakable">They would go to {address}.</p>
          <form method="post">
            <button type="submit" class="primary">
              Send me alerts
            </button>
          </form>
        </>
      ),
  })
}
