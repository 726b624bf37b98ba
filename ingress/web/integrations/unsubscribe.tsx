import { type Request, type Response, Router } from 'express'
import { render } from 'preact-render-to-string'
import { insertAudit } from '#shared/accounts/audit-store.ts'
import { findProjectOrganisation } from '#shared/accounts/project-store.ts'
import { updateChannel } from '#shared/channels/store.ts'
import { NotFoundError } from '#shared/errors.ts'
import { findChannelByUuid } from '#shared/pages/integration-store.ts'
import { isUuid } from '#shared/pings/url.ts'
import { equalSecrets } from '#shared/platform/secrets.ts'
import type { IngressDeps } from '../../deps.ts'
import { assets } from '../assets.ts'
import { sendErrorPage } from '../error-page.tsx'
import { setSafetyHeaders } from '../serve.ts'

/**
 * The link at the end of every mail. Who holds it may end the mails without signing in, by a button or by a mail
 * program's one-click POST (RFC 8058); following it changes nothing, since scanners follow every link.
 */
export function createUnsubscribeRouter(deps: IngressDeps): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const path = '/integrations/:integration/unsubscribe/:signature'
  router.get(path, (request, response) => answer(request, response, deps, false))
  router.post(path, (request, response) => answer(request, response, deps, true))
  return router
}

async function answer(request: Request, response: Response, deps: IngressDeps, isFinal: boolean): Promise<void> {
  setSafetyHeaders(response, deps)
  try {
    const uuid = String(request.params.integration)
    const channel = isSigned(uuid, String(request.params.signature), deps)
      ? await findChannelByUuid(deps.db, uuid)
      : null
    if (!channel) throw new NotFoundError('This link is not one of ours, or what it is about is gone.')
    if (isFinal) {
      await updateChannel(deps.db, channel.id, { disabled: true })
      await insertAudit(deps.db, {
        organisationId: await findProjectOrganisation(deps.db, channel.projectId),
        userId: null,
        actor: 'recipient of a mail',
        action: 'integration.unsubscribed',
        target: channel.name || channel.kind,
        address: request.socket.remoteAddress ?? '',
      })
    }
    response
      .status(200)
      .type('text/html')
      .end(`<!doctype html>${page(deps, channel.projectName, isFinal)}`)
  } catch (error) {
    sendErrorPage(error, request, response, deps, undefined)
  }
}

function isSigned(uuid: string, signature: string, deps: IngressDeps): boolean {
  if (!isUuid(uuid)) return false
  const given = Buffer.from(signature, 'base64url')
  return deps.secrets.digests(`unsubscribe:${uuid}`).some((digest) => equalSecrets(digest, given))
}

function page(deps: IngressDeps, projectName: string, isFinal: boolean): string {
  return render(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{`Unsubscribe · ${deps.config.siteName}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href={assets.icon.path} />
        <link rel="stylesheet" href={assets.style.path} />
      </head>
      <body class="plain">
        <main id="main" class="narrow center">
          {isFinal ? (
            <>
              <h1>You get no more mails</h1>
              <p>The integration of {projectName} is switched off. Its members can switch it on again.</p>
            </>
          ) : (
            <>
              <h1>No more mails from {projectName}?</h1>
              <form method="post">
                <button type="submit" class="primary">
                  Unsubscribe
                </button>
              </form>
            </>
          )}
        </main>
      </body>
    </html>,
  )
}
