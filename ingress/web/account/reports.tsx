import { type Request, type Response, Router } from 'express'
import { NotFoundError, ValidationError } from '#shared/errors.ts'
import { changeReports, endReports } from '#shared/monitoring/operations/reports.ts'
import type { ReportSettings } from '#shared/monitoring/reports/report-times.ts'
import { signedOfUnsubscribe } from '#shared/monitoring/reports/unsubscribe-link.ts'
import { acrossTenants } from '#shared/platform/database/tenant.ts'
import { findUserByUuid } from '#shared/tenancy/accounts/store.ts'
import { isUuid } from '#shared/uuid.ts'
import type { IngressDeps } from '../../deps.ts'
import type { FormField } from '../forms/fields.tsx'
import { FieldForm } from '../forms/form.tsx'
import { TimeZones } from '../forms/inputs.tsx'
import { isSigned, recipientHtml } from '../monitoring/integrations/recipient-page.tsx'
import { type Context, type FormContext, field } from '../shell/context.ts'
import { sendErrorPage } from '../shell/error-page.tsx'
import { asPage } from '../shell/send-html.ts'
import { setSafetyHeaders } from '../shell/serve.ts'

const REPORTS = [
  { value: 'off', label: 'None' },
  { value: 'daily', label: 'Every day' },
  { value: 'weekly', label: 'Every Monday' },
  { value: 'monthly', label: 'On the 1st of the month' },
]
const REMINDERS = [
  { value: 'off', label: 'None' },
  { value: 'hourly', label: 'Every hour' },
  { value: 'daily', label: 'Every day' },
]

const ITEMS: readonly FormField[] = [
  {
    name: 'report',
    label: 'Report',
    kind: 'select',
    options: REPORTS,
    hint: 'About all your projects, in the morning.',
  },
  {
    name: 'reminder',
    label: 'Reminder',
    kind: 'select',
    options: REMINDERS,
    hint: 'While a check is down and not acknowledged.',
  },
  {
    name: 'tz',
    label: 'Time zone',
    maxLength: 100,
    list: 'time-zones',
    hint: 'Of these mails, and of the times on your pages until you choose another one there.',
    isRequired: true,
  },
]

export function Reports(props: { context: Context; settings: ReportSettings; problem: string | null }) {
  const { context, settings, problem } = props
  return (
    <section class="card" aria-labelledby="reports">
      <h2 id="reports">Reports and reminders</h2>
      <FieldForm
        context={context}
        action="/account/reports"
        problem={problem}
        items={ITEMS}
        values={{ report: settings.report, reminder: settings.reminder, tz: settings.tz }}
        submit="Save"
      >
        <TimeZones />
      </FieldForm>
    </section>
  )
}

/** @returns the problem; null if the form was saved */
export async function takeReports({ deps, form }: FormContext, userId: number): Promise<string | null> {
  try {
    const wanted = { report: field(form, 'report'), reminder: field(form, 'reminder'), tz: field(form, 'tz') }
    await changeReports(deps.db, userId, wanted, deps.now())
    return null
  } catch (error) {
    if (error instanceof ValidationError) return error.message
    throw error
  }
}

/**
 * Handles the link at the end of every report and reminder, without signing in. A button or a one-click POST of a mail
 * program (RFC 8058) ends that kind of mail. GET changes nothing.
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
    asPage(response.status(200)).end(recipientHtml(deps, 'Unsubscribe', content))
  } catch (error) {
    await sendErrorPage(error, request, response, deps, undefined)
  }
}
