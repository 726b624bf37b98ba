import { type Request, type Response, Router } from 'express'
import { NotFoundError } from '#shared/errors.ts'
import { endReports } from '#shared/monitoring/operations/reports.ts'
import { signedOfUnsubscribe } from '#shared/monitoring/reports/unsubscribe-link.ts'
import { acrossTenants } from '#shared/platform/database/tenant.ts'
import { findUserByUuid } from '#shared/tenancy/accounts/store.ts'
import { isUuid } from '#shared/uuid.ts'
import type { IngressDeps } from '../../deps.ts'
import { isSigned, recipientHtml } from '../monitoring/integrations/recipient-page.tsx'
import { sendErrorPage } from '../shell/error-page.tsx'
import { setSafetyHeaders } from '../shell/serve.ts'

/**
 * The link at the end of every report and reminder: whoever holds it ends that kind of mail without signing in, by a
 * button or by a mail program's one-click POST (RFC 8058). Following it changes nothing.
 */
export function createEndReportsRouter(deps: IngressDeps): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const path = '/reports/:user/:kind/unsubscribe/:signature'
  router.get(path, (request, response) => answer(request, response, deps))
  router.post(path, (request, response) => answer(request, response, deps))
  return router
}

async function answer(request: Request, response: Response, deps: IngressDeps): Promise<void> {
  setSafetyHeaders(response, deps)
  const isDone = request.method === 'POST'
  try {
    const { user: uuid, kind, signature } = request.params
    const isKnown = typeof uuid === 'string' && isUuid(uuid) && (kind === 'report' || kind === 'reminder')
    const user = isKnown ? await acrossTenants(() => findUserByUuid(deps.db, uuid)) : null
    if (!isKnown || !user || !isSigned(signedOfUnsubscribe(uuid, kind), String(signature), deps)) {
      throw new NotFoundError('This link is not one of ours, or what it is about is gone.')
    }
    if (isDone) await acrossTenants(() => endReports(deps.db, user.id, kind, deps.now()))
    const what = kind === 'report' ? 'reports' : 'reminders'
    const content = isDone ? (
      <>
        <h1>You get no more {what}</h1>
        <p>You can switch them on again on the page of your account.</p>
      </>
    ) : (
      <>
        <h1>No more {what}?</h1>
        <form method="post">
          <button type="submit" class="primary">
            Unsubscribe
          </button>
        </form>
      </>
    )
    response
      .status(200)
      .type('text/html')
      .end(`<!doctype html>${recipientHtml(deps, 'Unsubscribe', content)}`)
  } catch (error) {
    await sendErrorPage(error, request, response, deps, undefined)
  }
}
