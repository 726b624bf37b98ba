import { ValidationError } from '#shared/errors.ts'
import { changeReports } from '#shared/monitoring/operations/reports.ts'
import type { ReportSettings } from '#shared/monitoring/reports/report-times.ts'
import { TimeZones } from '../components/form.tsx'
import type { FormField } from '../forms/fields.tsx'
import { FieldForm } from '../forms/form.tsx'
import { type Context, type FormContext, field } from '../shell/context.ts'

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

/** The mails that a person receives about all their projects. */
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

/** Saves the form. @returns the problem; null when it is saved */
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
