import { ValidationError } from '#shared/errors.ts'
import { changeReports } from '#shared/monitoring/operations/reports.ts'
import type { ReportSettings } from '#shared/monitoring/reports/report-times.ts'
import { Form, SelectField, TextField, TimeZones } from '../components/form.tsx'
import { Problem } from '../components/notice.tsx'
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

/** Which mails a person gets about all projects of theirs. */
export function Reports(props: { context: Context; settings: ReportSettings; problem: string | null }) {
  const { context, settings, problem } = props
  return (
    <section class="card" aria-labelledby="reports">
      <h2 id="reports">Reports and reminders</h2>
      <Problem text={problem} />
      <Form context={context} action="/account/reports" class="stack">
        <SelectField
          label="Report"
          name="report"
          value={settings.report}
          options={REPORTS}
          hint="About all your projects, in the morning."
        />
        <SelectField
          label="Reminder"
          name="reminder"
          value={settings.reminder}
          options={REMINDERS}
          hint="While something is down that nobody has acknowledged."
        />
        <TextField
          label="Time zone"
          name="tz"
          value={settings.tz}
          maxLength={100}
          list="time-zones"
          hint="Of these mails, and of the times on your pages until you choose another clock there."
          required
        />
        <TimeZones />
        <div>
          <button type="submit">Save</button>
        </div>
      </Form>
    </section>
  )
}

/** Takes the form. @returns what is wrong with it; null when it is stored */
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
