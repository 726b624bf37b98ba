import type { Router } from 'express'
import { unsubscribeRecipient } from '#shared/monitoring/operations/unsubscribe-recipient.ts'
import type { IngressDeps } from '../../../deps.ts'
import { createRecipientRouter } from './recipient-page.tsx'

/**
 * The link at the end of every mail. Who holds it may end the mails without signing in, by a button or by a mail
 * program's one-click POST (RFC 8058).
 */
export function createUnsubscribeRouter(deps: IngressDeps): Router {
  return createRecipientRouter(deps, {
    name: 'unsubscribe',
    signed: ({ uuid }) => `unsubscribe:${uuid}`,
    run: unsubscribeRecipient,
    title: 'Unsubscribe',
    page: ({ projectName, address }, isDone) =>
      isDone ? (
        <>
          <h1>You get no more mails</h1>
          <p>The integration of {projectName} is switched off. Its members can switch it on again.</p>
        </>
      ) : (
        <>
          <h1>No more mails from {projectName}?</h1>
          <p class="breakable">
            Alerts of its checks go to <b>{address}</b>.
          </p>
          <form method="post">
            <button type="submit" class="primary">
              Unsubscribe
            </button>
          </form>
        </>
      ),
  })
}
