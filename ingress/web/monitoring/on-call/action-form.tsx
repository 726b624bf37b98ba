import type { FormItem } from '../../forms/fields.tsx'
import { EditForm } from '../../forms/form.tsx'
import { Crumb } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { sendPage } from '../../shell/layout.tsx'
import type { ScheduleWorkspace } from './load.ts'

/** Sends the page of a form below a schedule; status 400 with errors. */
export function sendScheduleForm(
  context: Context,
  workspace: ScheduleWorkspace,
  form: {
    title: string
    action: 'override' | 'swap'
    submit: string
    items: readonly FormItem[]
    values: Readonly<Record<string, string>>
    errors: ReadonlyMap<string, string>
  },
): void {
  const { project, schedule, base } = workspace
  const { title, action, submit, items, values, errors } = form
  const path = `${base}/${schedule.uuid}`
  sendPage(
    context,
    { title: `${title} · ${schedule.name}`, workspace, project, area: 'on-call' },
    <>
      <Crumb href={path} label={schedule.name} />
      <h1>{title}</h1>
      <EditForm
        context={context}
        action={`${path}/${action}`}
        errors={errors}
        values={values}
        items={items}
        submit={submit}
        cancel={path}
      />
    </>,
    errors.size === 0 ? 200 : 400,
  )
}
