import { NotFoundError } from '#shared/errors.ts'
import { publishStatusPage } from '#shared/monitoring/operations/publish-status-page.ts'
import { removeStatusPage } from '#shared/monitoring/operations/remove-status-page.ts'
import { findStatusPageByToken } from '#shared/monitoring/pages/status-page-store.ts'
import { asTenant } from '#shared/platform/database/tenant.ts'
import { DayBar } from '../components/day-bar.tsx'
import { StatusGlyph } from '../components/icons.tsx'
import { Exact } from '../components/time.tsx'
import { personOf } from '../frame/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { openProject } from '../frame/workspace.ts'
import { type PublicHistory, readPublicHistory } from './public-history.ts'
import { overall, publicLook, publicOrder, publicWord } from './public-words.ts'

const DAYS = 90
const POLL_SECONDS = 60

type Shown = PublicHistory['shown'][number]

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
  const visible = publicOrder(shown)
  const state = overall(visible)
  sendPage(
    context,
    { title: page.title, isDown: state.look === 'down', pollSeconds: POLL_SECONDS },
    <div data-region="status" class="public-status">
      <h1>{page.title}</h1>
      <p class={`status-hero is-${state.look}`}>
        <StatusGlyph status={state.look} />
        {state.text}
      </p>
      {visible.length > 0 && (
        <section class="card table-card" aria-label="Checks">
          {visible.map((one) => (
            <PublicCheck key={one.check.uuid} shown={one} />
          ))}
          <p class="day-ends">
            <small>{DAYS} days ago</small>
            <small>today</small>
          </p>
        </section>
      )}
      <p class="muted foot">
        As of <Exact at={now} isNamed />. This page reads itself again every minute while it is open.
      </p>
    </div>,
  )
}

function PublicCheck({ shown }: { shown: Shown }) {
  const { check, days, uptime, maintenanceUntil } = shown
  return (
    <div class="public-check">
      <div class="row">
        <b class="breakable">{check.name || 'unnamed'}</b>
        <span class="row">
          {uptime !== null && (
            <span class="uptime" title={`Up, of the last ${DAYS} days`}>
              {uptime}
            </span>
          )}
          <span class={`public-state is-${publicLook(shown)}`}>
            <StatusGlyph status={publicLook(shown)} /> {publicWord(shown)}
          </span>
        </span>
      </div>
      {maintenanceUntil !== null && (
        <p class="maintenance">
          Maintenance until <Exact at={maintenanceUntil} isNamed />
        </p>
      )}
      <DayBar days={days} />
    </div>
  )
}
