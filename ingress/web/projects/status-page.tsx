import { NotFoundError } from '#shared/errors.ts'
import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { publishStatusPage } from '#shared/monitoring/operations/publish-status-page.ts'
import { removeStatusPage } from '#shared/monitoring/operations/remove-status-page.ts'
import type { DownDay } from '#shared/monitoring/pages/down-days.ts'
import { findStatusPageByToken } from '#shared/monitoring/pages/status-page-store.ts'
import { asTenant } from '#shared/platform/database/tenant.ts'
import { toIsoMillis } from '#shared/time.ts'
import { DayBar } from '../components/day-bar.tsx'
import { StatusGlyph, statusNames } from '../components/icons.tsx'
import { personOf } from '../frame/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { openProject } from '../frame/workspace.ts'
import { readPublicHistory } from './public-history.ts'

const DAYS = 90

export function statusPagePages(pages: Pages): void {
  pages.get('/status/:token', showStatusPage)
  pages.post('/projects/:project/status-page', save)
  pages.post('/projects/:project/status-page/remove', async (context) => {
    const { project, session } = await openProject(context, 'manage')
    await removeStatusPage(context.deps.db, personOf(context, session), project)
    redirect(context, `/projects/${project.uuid}/settings?done=status-page-removed`)
  })
}

async function save(context: FormContext): Promise<void> {
  const { project, session } = await openProject(context, 'manage')
  const { deps, form } = context
  const title = field(form, 'title').slice(0, 100) || project.name
  const input = { project, title, tags: field(form, 'tags').slice(0, 200) }
  await publishStatusPage(deps.db, personOf(context, session), input)
  redirect(context, `/projects/${project.uuid}/settings?done=status-page-saved`)
}

/** The same answer for an address that never was and one that was taken down. */
async function showStatusPage(context: Context): Promise<void> {
  const { db } = context.deps
  const token = context.params.token ?? ''
  const page = /^[\w-]{22}$/.test(token) ? await findStatusPageByToken(db, token) : null
  if (!page) throw new NotFoundError('There is no status page at this address.')
  const { now, shown } = await context.deps.publicHistories(`${page.projectId} ${page.tags}`, () =>
    asTenant({ projectId: page.projectId }, () => readPublicHistory(page, DAYS, context.deps)),
  )
  const down = shown.filter(({ status }) => status === 'down').length
  const late = shown.filter(({ status }) => status === 'grace').length
  sendPage(
    context,
    { title: page.title, isDown: down > 0 },
    <>
      <h1>{page.title}</h1>
      <section class="card">
        <p class="status-hero">
          <StatusGlyph status={down > 0 ? 'down' : late > 0 ? 'grace' : 'up'} />
          {overall(shown.length, down, late)}
        </p>
      </section>
      {shown.length > 0 && (
        <section class="card table-card" aria-label="Checks">
          {shown.map(({ check, status, days }) => (
            <PublicCheck key={check.uuid} name={check.name || 'unnamed'} status={status} days={days} />
          ))}
        </section>
      )}
      <p class="muted foot">
        The last {DAYS} days, oldest left. As of {toIsoMillis(now).slice(0, 16).replace('T', ' ')} UTC.
      </p>
    </>,
  )
}

function overall(total: number, down: number, late: number): string {
  if (total === 0) return 'Nothing is shown yet.'
  if (down > 0) return `${down} of ${total} ${down === 1 ? 'is' : 'are'} down.`
  return late > 0 ? `Everything works, ${late} ${late === 1 ? 'is' : 'are'} late.` : 'Everything works.'
}

function PublicCheck({ name, status, days }: { name: string; status: ShownStatus; days: readonly DownDay[] }) {
  return (
    <div class="public-check">
      <div class="row">
        <b class="breakable">{name}</b>
        <span class="row">
          <StatusGlyph status={status} /> {statusNames[status]}
        </span>
      </div>
      <DayBar days={days} />
    </div>
  )
}
