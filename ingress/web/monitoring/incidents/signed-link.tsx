import { type Request, type Response, Router } from 'express'
import { render } from 'preact-render-to-string'
import { isBase64url } from '#shared/canonical/base64url.ts'
import { NotFoundError, RateLimitedError } from '#shared/errors.ts'
import type { ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import { findIncident } from '#shared/monitoring/alerting/incident-read-store.ts'
import { INCIDENT_SIGNATURE_BYTES, signedOfIncidentLink } from '#shared/monitoring/notifications/incident-link.ts'
import { acknowledgeIncident } from '#shared/monitoring/operations/incidents.ts'
import { findIntegrationByUuid } from '#shared/monitoring/pages/integration-store.ts'
import { findProjectOrganisation } from '#shared/monitoring/projects/changes-store.ts'
import { equalSecrets } from '#shared/platform/process/secrets.ts'
import { createTokenBuckets } from '#shared/platform/process/token-buckets.ts'
import { microsOfSeconds, toIsoSeconds } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import type { IngressDeps } from '../../../deps.ts'
import { clientAddress } from '../../../middleware/request-safety.ts'
import { assets } from '../../shell/assets.ts'
import { sendErrorPage } from '../../shell/error-page.tsx'
import { setSafetyHeaders } from '../../shell/serve.ts'

/** The link shows the outcome for this time after the resolution. */
const SHOWN_AFTER_SECONDS = 7 * 86_400
const TRIES_PER_MINUTE = 30

/**
 * Handles the link by which a recipient acknowledges without signing in. Mail scanners follow every link, so GET
 * changes nothing: only the button acknowledges.
 */
export function createIncidentLinkRouter(deps: IngressDeps): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const tries = createTokenBuckets(TRIES_PER_MINUTE)
  const guarded = (handle: (request: Request, response: Response) => Promise<void>) => {
    return async (request: Request, response: Response) => {
      setSafetyHeaders(response, deps)
      response.set('X-Robots-Tag', 'noindex')
      try {
        const { granted, retryAfterSeconds } = tries.take(clientAddress(request, deps), performance.now())
        if (!granted) throw new RateLimitedError('Too many tries from this address.', retryAfterSeconds)
        await handle(request, response)
      } catch (error) {
        await sendErrorPage(error, request, response, deps, undefined)
      }
    }
  }
  const show = guarded(async (request, response) => {
    const { incident } = await linked(request, deps)
    sendPage(response, deps, incident)
  })
  const acknowledge = guarded(async (request, response) => {
    const { incident, integration } = await linked(request, deps)
    if (incident.state !== 'resolved') {
      const through = integration.name || integration.kind
      const organisationId = await findProjectOrganisation(deps.db, integration.projectId)
      if (organisationId === null) throw gone()
      const project = { id: integration.projectId, organisationId }
      const actor = { kind: 'link', through, address: clientAddress(request, deps) } as const
      const input = { project, id: incident.id, by: `through ${through}`, note: '', via: 'link' } as const
      await acknowledgeIncident(deps.db, actor, input, deps)
    }
    response.redirect(303, request.originalUrl)
  })
  router.get('/i/:incident/:channel/:signature', show)
  router.post('/i/:incident/:channel/:signature', acknowledge)
  return router
}

const gone = () => new NotFoundError('This link is unknown, or its incident is resolved.')

/** @throws NotFoundError for an invalid or expired link */
async function linked(request: Request, deps: IngressDeps) {
  const [incidentId, integrationId, signature] = [
    String(request.params.incident),
    String(request.params.channel),
    String(request.params.signature),
  ]
  if (!isUuid(incidentId) || !isUuid(integrationId) || !isBase64url(signature)) throw gone()
  const given = Buffer.from(signature, 'base64url')
  const digests = deps.secrets.digests(signedOfIncidentLink(incidentId, integrationId))
  if (!digests.some((digest) => equalSecrets(digest.subarray(0, INCIDENT_SIGNATURE_BYTES), given))) throw gone()
  const [incident, integration] = await Promise.all([
    findIncident(deps.db, null, incidentId),
    findIntegrationByUuid(deps.db, integrationId),
  ])
  if (!incident || !integration) throw gone()
  const { resolvedAt } = incident
  if (resolvedAt !== null && deps.now() > resolvedAt + microsOfSeconds(SHOWN_AFTER_SECONDS)) throw gone()
  return { incident, integration }
}

function sendPage(response: Response, deps: IngressDeps, incident: ShownIncident): void {
  const html = render(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{`${incident.name || 'A check'} · ${deps.config.siteName}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="no-referrer" />
        <link rel="icon" href={assets.icon.path} />
        <link rel="stylesheet" href={assets.style.path} />
      </head>
      <body class="plain">
        <main id="main" class="narrow center">
          <h1>{incident.name || 'A check without a name'}</h1>
          <p>{sentenceOf(incident)}</p>
          {(incident.state === 'waiting' || incident.state === 'alerting') && (
            <form method="post">
              <button type="submit" class="primary">
                Acknowledge
              </button>
            </form>
          )}
        </main>
      </body>
    </html>,
  )
  response.status(200).type('text/html').end(`<!doctype html>${html}`)
}

function sentenceOf({ state, downAt, resolvedAt, ackBy }: ShownIncident): string {
  const since = `Down since ${toIsoSeconds(downAt)}`
  if (resolvedAt !== null) return `${since}, resolved at ${toIsoSeconds(resolvedAt)}.`
  if (state === 'acknowledged')
    return `${since}, acknowledged${ackBy ? ` by ${ackBy}` : ''}. No further alerts for this incident.`
  return `${since}. Acknowledging stops further alerts for this incident.`
}
