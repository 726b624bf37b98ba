import { findStatusPage, type StatusPage } from '#shared/monitoring/pages/status-page-store.ts'
import type { FormItem } from '../../forms/fields.tsx'
import { ButtonForm, FieldForm } from '../../forms/form.tsx'
import { Copyable } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { sendPage } from '../../shell/layout.tsx'
import { Problem } from '../../shell/notice.tsx'
import { requireProject } from '../../shell/workspace.ts'
import { LogoForm } from './status-logo.tsx'

const ITEMS: readonly FormItem[] = [
  {
    class: 'inline-fields',
    items: [
      { name: 'title', label: 'Title', isRequired: true, maxLength: 100 },
      { name: 'tags', label: 'Only checks with one of these tags', maxLength: 200, placeholder: 'all checks' },
    ],
  },
  { name: 'intro', label: 'Introduction for readers', kind: 'lines', rows: 2 },
  { name: 'grouped', label: 'Group checks by their first tag', kind: 'check', hint: 'Readers see that tag.' },
  {
    name: 'progress',
    label: 'Show that an outage is being worked on',
    kind: 'check',
    hint: 'For down checks whose incident is acknowledged. No person is named.',
  },
]

interface PublishedPage
  extends Pick<StatusPage, 'title' | 'tags' | 'intro' | 'isGrouped' | 'showsProgress' | 'logoDigest'> {
  path: string
  url: string
}

interface Props {
  context: Context
  view: { base: string; name: string; statusPage: PublishedPage | null }
}

/** The page where a project publishes its status page. */
export function statusPageFormPages(pages: Pages): void {
  pages.get('/projects/:project/status-page', async (context) => {
    const workspace = await requireProject(context, 'manage')
    const { project } = workspace
    const { db, config } = context.deps
    const page = await findStatusPage(db, project.id)
    const path = `/status/${page?.token}`
    const statusPage = page && { ...page, path, url: `${config.publicUrl}${path}` }
    sendPage(
      context,
      { title: `Status page · ${project.name}`, workspace, project, area: 'status-page' },
      <>
        <h1>Status page</h1>
        <p class="muted">
          Shows names and states of checks with their last ninety days to everyone who has its URL. Readers cannot ping
          or change them.
        </p>
        <Problem text={context.flash.problem} />
        <PublicStatusPage
          context={context}
          view={{ base: `/projects/${project.uuid}`, name: project.name, statusPage }}
        />
      </>,
    )
  })
}

function PublicStatusPage({ context, view }: Props) {
  const page = view.statusPage
  return (
    <section class="card form-wide" aria-labelledby="status-page">
      <h2 id="status-page">{page ? 'Published' : 'Not published'}</h2>
      {page && (
        <p class="ping-url">
          <Copyable text={page.url} label="URL of the status page" />
        </p>
      )}
      <FieldForm
        context={context}
        action={`${view.base}/status-page`}
        items={ITEMS}
        values={{
          title: page?.title ?? view.name,
          tags: page?.tags,
          intro: page?.intro,
          grouped: page?.isGrouped ? 'on' : '',
          progress: page?.showsProgress ? 'on' : '',
        }}
        submit={page ? 'Save' : 'Publish'}
      />
      {page && <LogoForm context={context} base={view.base} page={page} />}
      {page && (
        <div class="row foot">
          <a class="button" href={page.path}>
            Open
          </a>
          <a class="button" href={`${view.base}/status-notes`}>
            Notes
          </a>
          <ButtonForm
            context={context}
            action={`${view.base}/status-page/remove`}
            confirm="Unpublish the status page? Its URL stops working."
            yes="Unpublish"
            label="Unpublish"
            variant="danger"
          />
        </div>
      )}
    </section>
  )
}
