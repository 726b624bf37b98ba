import { deleteSavedFilter, type SavedFilter, saveFilter } from '#shared/monitoring/pages/saved-filter-store.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { ButtonForm, Form } from '../../forms/form.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { goBack, setFlash } from '../../shell/flash.ts'
import { requireProject } from '../../shell/workspace.ts'
import { listQueryOf } from './list-view.ts'

/** Filters are private to a user and a project. */
export function savedFilterPages(pages: Pages): void {
  pages.post('/projects/:project/filters', save)
  pages.post('/projects/:project/filters/:filter/delete', async (context) => {
    const { project, session } = await requireProject(context, 'view')
    const id = Number(context.params.filter)
    const owner = { projectId: project.id, userId: session.userId }
    if (Number.isSafeInteger(id)) await deleteSavedFilter(context.deps.db, owner, id)
    goBack(context, `/projects/${project.uuid}/checks`, { notice: 'The filter is forgotten.' })
  })
}

async function save(context: FormContext): Promise<void> {
  const { project, session } = await requireProject(context, 'view')
  const { deps, form } = context
  const name = field(form, 'name').slice(0, 50)
  const query = listQueryOf(new URLSearchParams(field(form, 'query').slice(0, 2000)))
  const path = `/projects/${project.uuid}/checks`
  const owner = { projectId: project.id, userId: session.userId }
  const isSaved =
    name !== '' && query !== '' && (await transaction(deps.db, (tx) => saveFilter(tx, owner, { name, query })))
  setFlash(context, path, {
    notice: isSaved ? `Saved as “${name}”.` : 'Not saved: it needs a name and a filter, and twenty are the most.',
  })
  redirect(context, query === '' ? path : `${path}?${query}`)
}

export function SavedFilters(props: { context: Context; projectUuid: string; saved: readonly SavedFilter[] }) {
  const { context, projectUuid, saved } = props
  const current = listQueryOf(context.query)
  const base = `/projects/${projectUuid}/filters`
  if (saved.length === 0 && current === '') return null
  return (
    <details class="menu saved-menu">
      <summary>Saved filters</summary>
      <ul>
        {saved.map(({ id, name, query }) => (
          <li key={id} class="saved">
            <a href={`${context.request.path}?${query}`} aria-current={query === current ? 'true' : undefined}>
              {name}
            </a>
            <ButtonForm
              context={context}
              action={`${base}/${id}/delete`}
              confirm={`Forget the filter “${name}”? The checks it shows stay as they are.`}
              yes="Forget"
              label="✕"
              variant="quiet"
              name={`Forget the filter ${name}`}
              hidden={{ back: context.request.originalUrl }}
            />
          </li>
        ))}
        {current !== '' && (
          <li class="saved-new">
            <Form context={context} action={base} class="inline">
              <input type="hidden" name="query" value={current} />
              <label class="hidden" for="filter-name">
                Name for this filter
              </label>
              <input id="filter-name" name="name" placeholder="Name for this filter" maxLength={50} required />
              <button type="submit">Save</button>
            </Form>
          </li>
        )}
      </ul>
    </details>
  )
}
