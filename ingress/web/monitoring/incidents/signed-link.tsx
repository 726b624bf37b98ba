import { type Request, type Response, Router } from 'express'
import { NotFoundError, RateLimitedError, ValidationError } from '#shared/errors.ts'
import { findIncident } from '#shared/monitoring/alerting/incident-read-store.ts'
import { isLinkToken, linkDigest } from '#shared/monitoring/notifications/ack-link.ts'
import { callScript, keysUrlOf } from '#shared/monitoring/notifications/call-script.ts'
import {
  isLinkShown,
  LINK_ACTIONS,
  type LinkAction,
  type LinkedIncident,
} from '#shared/monitoring/notifications/link-rules.ts'
import {
  findLinkedNotification,
  linkedIncidents,
  notifiedOfIncident,
} from '#shared/monitoring/notifications/link-store.ts'
import { shortName } from '#shared/monitoring/notifications/text-parts.ts'
import { hasStepLeft } from '#shared/monitoring/operations/incidents.ts'
import { actByLink } from '#shared/monitoring/operations/linked-incidents.ts'
import { createTokenBuckets } from '#shared/platform/process/token-buckets.ts'
import { pageWithBase } from '../../../base-path.ts'
import type { IngressDeps } from '../../../deps.ts'
import { openBody } from '../../../middleware/body.ts'
import { parseFormText } from '../../../middleware/form-text.ts'
import { clientAddress } from '../../../middleware/request-safety.ts'
import { sendErrorPage } from '../../shell/error-page.tsx'
import { setSafetyHeaders } from '../../shell/serve.ts'
import { phonePage } from './phone-page.tsx'

const TRIES_PER_MINUTE = 30
const MAX_FORM_BYTES = 1_000
const MAX_NOTIFIED = 20

/**
 * Handles the link by which a recipient acknowledges without signing in. Previews and mail scanners follow links, some
 * by POST, so only a POST with the form field `do` changes an incident.
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
    const { link, incidents } = await requireLink(request, deps)
    const [only] = incidents
    const single = only && incidents.length === 1 ? only : null
    const notified = single ? await notifiedOfIncident(deps.db, single.id, MAX_NOTIFIED) : []
    const mayEscalate = single !== null && (await canEscalate(deps, single))
    const html = phonePage({ siteName: deps.config.siteName, link, incidents, notified, mayEscalate, now: deps.now() })
    response.status(200).type('text/html').end(pageWithBase(deps.config.basePath, html))
  })
  const act = guarded(async (request, response) => {
    const linked = await requireLink(request, deps)
    const form = parseFormText((await openBody(request, MAX_FORM_BYTES).all()).toString('utf8'))
    const action = LINK_ACTIONS.find((name) => name === form.get('do'))
    if (!action) throw new ValidationError(`do must be one of: ${LINK_ACTIONS.join(', ')}`)
    await actByLink(deps.db, { ...linked, action, address: clientAddress(request, deps) }, deps)
    response.redirect(303, request.originalUrl)
  })
  const press = guarded(async (request, response) => {
    const linked = await requireLink(request, deps)
    const form = parseFormText((await openBody(request, MAX_FORM_BYTES).all()).toString('utf8'))
    const key = KEYS[form.get('Digits') ?? '']
    const input = { ...linked, address: clientAddress(request, deps) }
    const acted = key ? await actByLink(deps.db, { ...input, action: key.action }, deps) : []
    const isDone = key?.action === 'ack' || acted.length > 0
    const text = key && isDone ? key.reply : spokenText(linked.incidents)
    const url = `${deps.config.publicUrl}/a/${request.params.token}`
    response
      .status(200)
      .type('text/xml')
      .end(callScript(text, isDone ? null : keysUrlOf(url)))
  })
  // Links of buyers have the same prefix and a longer token.
  router.use('/a/:token', (request, _response, next) => (isLinkToken(request.params.token) ? next() : next('router')))
  router.get('/a/:token', show)
  router.post('/a/:token/keys', press)
  router.post('/a/:token', act)
  return router
}

const KEYS: Readonly<Record<string, { action: LinkAction; reply: string }>> = {
  1: { action: 'ack', reply: 'Acknowledged.' },
  2: { action: 'escalate', reply: 'Escalated.' },
}

/** Repeats the message of a call after another key. */
function spokenText(incidents: readonly LinkedIncident[]): string {
  const open = incidents.filter(({ resolvedAt }) => resolvedAt === null)
  const [first] = open
  if (!first) return 'Resolved.'
  return open.length === 1 ? `${shortName(first.name) || 'A check'} is down.` : `${open.length} checks are down.`
}

async function canEscalate({ db }: IngressDeps, { projectId, id }: LinkedIncident): Promise<boolean> {
  const incident = await findIncident(db, projectId, id)
  return incident !== null && !incident.isEscalating && (await hasStepLeft(db, projectId, incident))
}

/** @throws NotFoundError for an unknown or expired link */
async function requireLink(request: Request, deps: IngressDeps) {
  const gone = new NotFoundError('This link is unknown, or its incident ended more than 7 days ago.')
  const link = await findLinkedNotification(deps.db, linkDigest(String(request.params.token)))
  if (!link) throw gone
  const incidents = await linkedIncidents(deps.db, link)
  if (!isLinkShown(incidents, deps.now())) throw gone
  return { link, incidents }
}
