import { NotFoundError, ValidationError } from '#shared/errors.ts'
import { changeStatusNote, postStatusNote } from '#shared/monitoring/operations/status-page.ts'
import { listStatusNotes, MAX_NOTES, type StatusNote } from '#shared/monitoring/pages/status-note-store.ts'
import { findStatusPage } from '#shared/monitoring/pages/status-page-store.ts'
import { isUuid } from '#shared/uuid.ts'
import { ButtonForm, FieldForm } from '../../forms/form.tsx'
import { PageHead } from '../../lists/list.tsx'
import { personOf } from '../../shell/audit.ts'
import { Exact } from '../../shell/basics.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import { sendPage } from '../../shell/layout.tsx'
import { requireProject } from '../../shell/workspace.ts'

interface Typed {
  title: string
  text: string
  problem: string | null
}

export function statusNotePages(pages: Pages): void {
  pages.get('/projects/:project/status-notes', ({ query, ...context }) => {
    const prefilled = (name: string, length: number) => (query.get(name) ?? '').toWellFormed().slice(0, length)
    return show({ query, ...context }, { title: prefilled('title', 100), text: prefilled('text', 2000), problem: null })
  })
  pages.post('/projects/:project/status-notes', post)
  for (const verb of ['end', 'delete'] as const)
    pages.post(`/projects/:project/status-notes/:note/${verb}`, (context) => change(context, verb))
}

async function post(context: FormContext): Promise<void> {
  const { project, session } = await requireProject(context, 'edit')
  const [title, text] = [field(context.form, 'title'), field(context.form, 'text')]
  try {
    await postStatusNote(context.deps.db, personOf(context, session), { project, title, text })
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    return await show(context, { title, text, problem: error.message }, 400)
  }
  const path = `/projects/${project.uuid}/status-notes`
  setFlash(context, path, { notice: 'The note is on the status page.' })
  redirect(context, path)
}

async function change(context: FormContext, verb: 'end' | 'delete'): Promise<void> {
  const { project, session } = await requireProject(context, 'edit')
  const uuid = context.params.note ?? ''
  if (!isUuid(uuid)) throw new NotFoundError('There is no such note.')
  await changeStatusNote(context.deps.db, personOf(context, session), { project, uuid, change: verb })
  const path = `/projects/${project.uuid}/status-notes`
  setFlash(context, path, { notice: verb === 'end' ? 'The note is marked as over.' : 'The note is deleted.' })
  redirect(context, path)
}

async function show(context: Context, typed: Typed, status = 200): Promise<void> {
  const workspace = await requireProject(context, 'edit')
  const { project } = workspace
  const { db } = context.deps
  const [page, notes] = await Promise.all([findStatusPage(db, project.id), listStatusNotes(db, project.id)])
  const base = `/projects/${project.uuid}/status-notes`
  sendPage(
    context,
    { title: `Status notes · ${project.name}`, workspace, project, area: 'incidents' },
    <>
      <PageHead
        title="Notes on the status page"
        actions={page ? [{ href: `/status/${page.token}`, label: 'Open the status page', isSecondary: true }] : []}
      />
      {page === null && <p class="notice">This project has no public status page, so its notes are not shown.</p>}
      <section class="card" aria-labelledby="new-note">
        <h2 id="new-note">New note</h2>
        <FieldForm
          context={context}
          action={base}
          class="stack form-wide"
          problem={typed.problem}
          items={[
            { name: 'title', label: 'Title', isRequired: true, maxLength: 100 },
            { name: 'text', label: 'Text', kind: 'lines', hint: 'What readers notice, and when you will post again.' },
          ]}
          values={{ title: typed.title, text: typed.text }}
          submit="Post"
        />
      </section>
      {notes.map((note) => (
        <Note key={note.uuid} context={context} base={base} note={note} />
      ))}
      {notes.length === MAX_NOTES && <p class="muted">The newest {MAX_NOTES} are kept.</p>}
    </>,
    status,
  )
}

function Note({ context, base, note }: { context: Context; base: string; note: StatusNote }) {
  return (
    <section class="card" aria-labelledby={`note-${note.uuid}`}>
      <div class="card-head">
        <h2 id={`note-${note.uuid}`}>{note.title}</h2>
        <div class="row">
          {note.endedAt === null && (
            <ButtonForm
              context={context}
              action={`${base}/${note.uuid}/end`}
              confirm={`Mark “${note.title}” as over? The status page shows it at once. This cannot be undone.`}
              yes="It is over"
              label="It is over"
            />
          )}
          <ButtonForm
            context={context}
            action={`${base}/${note.uuid}/delete`}
            confirm={`Delete the note “${note.title}”? The status page no longer shows it.`}
            yes="Delete note"
            label="Delete"
            variant="danger"
          />
        </div>
      </div>
      <NoteText note={note} />
    </section>
  )
}

export function NoteText({ note }: { note: StatusNote }) {
  return (
    <>
      <p class="hint">
        <Exact at={note.at} isNamed />
        {note.endedAt !== null && (
          <>
            {' · over since '}
            <Exact at={note.endedAt} isNamed />
          </>
        )}
      </p>
      {note.text !== '' && <p class="as-typed breakable">{note.text}</p>}
    </>
  )
}
