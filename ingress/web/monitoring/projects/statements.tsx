import { enableStatements } from '#shared/monitoring/operations/uptime.ts'
import { Form } from '../../forms/form.tsx'
import { CheckBox } from '../../forms/inputs.tsx'
import { personOf } from '../../shell/audit.ts'
import { type Context, field, type Pages, redirect } from '../../shell/context.ts'
import { requireProject } from '../../shell/workspace.ts'

/** Setting for daily statements in the transparency log. */
export function statementPages(pages: Pages): void {
  pages.post('/projects/:project/settings/statements', async (context) => {
    const { project, session } = await requireProject(context, 'manage')
    const isWanted = field(context.form, 'state') === 'on'
    await enableStatements(context.deps.db, personOf(context, session), { project, isWanted })
    redirect(context, `/projects/${project.uuid}/settings?done=project-saved`)
  })
}

/** @param props.since first day with a statement; null without statements */
export function Statements({ context, base, since }: { context: Context; base: string; since: string | null }) {
  return (
    <section class="card" aria-labelledby="statements">
      <h2 id="statements">Provable history</h2>
      <p class="muted">
        After each day the hash of the day’s records of this project’s checks is anchored in the transparency log. Later
        changes of the records can then be detected. The log reveals neither names nor states of the checks.
        {since !== null && ` Stated since ${since}.`}
      </p>
      <Form context={context} action={`${base}/settings/statements`} class="inline-fields">
        <CheckBox label="State each day in the transparency log" name="state" isChecked={since !== null} />
        <button type="submit">Save</button>
      </Form>
    </section>
  )
}
