import { type Request, type Response, Router } from 'express'
import type { Knex } from 'knex'
import type { ComponentChildren } from 'preact'
import { render } from 'preact-render-to-string'
import { isBase64url } from '#shared/canonical/base64url.ts'
import { NotFoundError } from '#shared/errors.ts'
import { decryptConfig } from '#shared/monitoring/operations/integration-config.ts'
import {
  confirmRecipient,
  confirmText,
  recipientOf,
  unsubscribeRecipient,
} from '#shared/monitoring/operations/recipients.ts'
import { findIntegrationByUuid } from '#shared/monitoring/pages/integration-store.ts'
import { equalSecrets } from '#shared/platform/process/secrets.ts'
import type { Actor } from '#shared/tenancy/actor.ts'
import { isUuid } from '#shared/uuid.ts'
import type { IngressDeps } from '../../../deps.ts'
import { clientAddress } from '../../../middleware/request-safety.ts'
import { assets } from '../../shell/assets.ts'
import { sendErrorPage } from '../../shell/error-page.tsx'
import { Logo } from '../../shell/icons.tsx'
import { asPage, htmlDocument } from '../../shell/send-html.ts'
import { setSafetyHeaders } from '../../shell/serve.ts'

type LinkedIntegration = NonNullable<Awaited<ReturnType<typeof findIntegrationByUuid>>>

/** Action of a link in a mail, without signing in. */
interface RecipientAction {
  /** part of the URL between the integration and the signature */
  name: string
  /** text that the signature covers */
  signed(integration: LinkedIntegration): string
  run(db: Knex, actor: Actor, integration: LinkedIntegration, deps: IngressDeps): Promise<void>
  title: string
  /** @param isDone false before the operation */
  page(requested: { projectName: string; address: string }, isDone: boolean): ComponentChildren
}

/** Scanners follow every link, so GET changes nothing; the button or another POST does. */
function createRecipientRouter(deps: IngressDeps, action: RecipientAction): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const path = `/integrations/:integration/${action.name}/:signature`
  router.get(path, (request, response) => answer(request, response, deps, action))
  router.post(path, (request, response) => answer(request, response, deps, action))
  return router
}

async function answer(request: Request, response: Response, deps: IngressDeps, action: RecipientAction): Promise<void> {
  setSafetyHeaders(response, deps)
  const isDone = request.method === 'POST'
  try {
    const uuid = String(request.params.integration)
    const integration = isUuid(uuid) ? await findIntegrationByUuid(deps.db, uuid) : null
    if (!integration || !isSigned(action.signed(integration), String(request.params.signature), deps)) {
      throw new NotFoundError('This link is not one of ours, or what it is about is gone.')
    }
    if (isDone) {
      const actor = { kind: 'recipient', address: clientAddress(request, deps) } as const
      await action.run(deps.db, actor, integration, deps)
    }
    const { projectName } = integration
    // The link was mailed only to this address.
    const address = recipientOf(integration.kind, decryptConfig(integration, deps.secrets)) ?? ''
    const html = recipientHtml(deps, action.title, action.page({ projectName, address }, isDone))
    asPage(response.status(200)).end(html)
  } catch (error) {
    await sendErrorPage(error, request, response, deps, undefined)
  }
}

/** Accepts signatures of all known keys. */
export function isSigned(text: string, signature: string, deps: IngressDeps): boolean {
  if (!isBase64url(signature)) return false
  const given = Buffer.from(signature, 'base64url')
  return deps.secrets.digests(text).some((digest) => equalSecrets(digest, given))
}

export function recipientHtml(deps: IngressDeps, title: string, content: ComponentChildren): string {
  const html = render(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{`${title} · ${deps.config.siteName}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href={assets.icon.path} />
        <link rel="stylesheet" href={assets.style.path} />
      </head>
      <body class="plain">
        <header class="brand-only">
          <span class="brand">
            <Logo />
            <span>{deps.config.siteName}</span>
          </span>
        </header>
        <main id="main" class="narrow center">
          {content}
        </main>
      </body>
    </html>,
  )
  return htmlDocument(html, deps.config)
}

/** Link by which the recipient of an e-mail integration consents. It becomes invalid when the address changes. */
export function createConfirmRouter(deps: IngressDeps): Router {
  const addressOf = (integration: { kind: string; sealedConfig: string }) =>
    recipientOf(integration.kind, decryptConfig(integration, deps.secrets)) ?? ''
  return createRecipientRouter(deps, {
    name: 'confirm',
    signed: (integration) => confirmText(integration.uuid, addressOf(integration)),
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

/**
 * Link at the end of every mail. Its holder may end the mails without signing in, by a button or by a mail program's
 * one-click POST (RFC 8058).
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
