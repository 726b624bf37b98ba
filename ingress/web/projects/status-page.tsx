import { NotFoundError } from '#shared/errors.ts'
import { publishStatusPage } from '#shared/monitoring/operations/publish-status-page.ts'
import { removeStatusPage } from '#shared/monitoring/operations/remove-status-page.ts'
import type { StatusNote } from '#shared/monitoring/pages/status-note-store.ts'
import { findStatusPageByToken, type StatusPage } from '#shared/monitoring/pages/status-page-store.ts'
import { asTenant } from '#shared/platform/database/tenant.ts'
import { microsOfSeconds } from '#shared/time.ts'
import { DayBar } from '../components/day-bar.tsx'
import { StatusGlyph } from '../components/icons.tsx'
import { Exact } from '../components/time.tsx'
import { personOf } from '../frame/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { openProject } from '../frame/workspace.ts'
import { type PublicHistory, readPublicHistory } from './public-history.ts'
import { groupsOf, overall, publicLook, publicOrder, publicWord } from './public-words.ts'
import { statusFeed } from './status-feed.ts'
import { StatusLogo } from './status-logo.tsx'
import { NoteText } from './status-notes.tsx'

const DAYS = 90
const POLL_SECONDS = 60
/** How long a note that is over stays. */
const NOTE_SECONDS = 7 * 86_400

type Shown = PublicHistory['shown'][number]

export function statusPagePages(pages: Pages): void {
  pages.get('/status/:token', showStatusPage)
  pages.get('/status/:token/feed.atom', sendFeed)
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
  const input = {
    project,
    title,
    tags: field(form, 'tags').slice(0, 200),
    intro: field(form, 'intro').slice(0, 500),
    isGrouped: form.has('grouped'),
  }
  await publishStatusPage(deps.db, personOf(context, session), input)
  redirect(context, `/projects/${project.uuid}/settings?done=status-page-saved`)
}

/** The same answer for an address that never was and one that was taken down. */
async function openStatusPage(context: Context): Promise<{ page: StatusPage; history: PublicHistory }> {
  const token = context.params.token ?? ''
  const page = /^[\w-]{22}$/.test(token) ? await findStatusPageByToken(context.deps.db, token) : null
  if (!page) throw new NotFoundError('There is no status page at this address.')
  const history = await context.deps.publicHistories(`${page.projectId} ${page.tags}`, () =>
    asTenant({ projectId: page.projectId }, () => readPublicHistory(page, DAYS, context.deps)),
  )
  return { page, history }
}

async function sendFeed(context: Context): Promise<void> {
  const { page, history } = await openStatusPage(context)
  const url = `${context.deps.config.publicUrl}/status/${page.token}`
  context.response.type('application/atom+xml').end(statusFeed(page.title, url, history))
}

async function showStatusPage(context: Context): Promise<void> {
  const { page, history } = await openStatusPage(context)
  const visible = publicOrder(history.shown)
  const state = overall(visible)
  const feed = `/status/${page.token}/feed.atom`
  sendPage(
    context,
    { title: page.title, isDown: state.look === 'down', pollSeconds: POLL_SECONDS, feed },
    <div data-region="status" class="public-status">
      <StatusLogo page={{ path: `/status/${page.token}`, logoMark: page.logoMark }} />
      <h1>{page.title}</h1>
      {page.intro !== '' && <p class="as-typed breakable">{page.intro}</p>}
      <p class={`status-hero is-${state.look}`}>
        <StatusGlyph status={state.look} />
        {state.text}
      </p>
      {currentNotes(history).map((note) => (
        <section key={note.uuid} class={note.endedAt === null ? 'card note' : 'card note is-over'}>
          <h2>{note.title}</h2>
          <NoteText note={note} />
        </section>
      ))}
      {groupsOf(visible, page.isGrouped).map(({ name, members }) => (
        <PublicGroup key={name} name={name} members={members} />
      ))}
      <p class="muted foot">
        As of <Exact at={history.now} isNamed />. This page reads itself again every minute while it is open.{' '}
        <a href={feed}>Feed</a>
      </p>
    </div>,
  )
}

/** What goes on, and what was over not long ago. */
function currentNotes({ notes, now }: PublicHistory): StatusNote[] {
  const recent = notes.filter(({ endedAt }) => endedAt === null || endedAt > now - microsOfSeconds(NOTE_SECONDS))
  return recent.toSorted((a, b) => Number(a.endedAt !== null) - Number(b.endedAt !== null))
}

/** @param props.name of what its checks have in common; empty where all stand together */
function PublicGroup({ name, members }: { name: string; members: readonly Shown[] }) {
  return (
    <section class="card table-card" aria-label={name || 'Checks'}>
      {name !== '' && (
        <h2 class="public-group">
          {name} <small>{overall(members).text}</small>
        </h2>
      )}
      {members.map((one) => (
        <PublicCheck key={one.check.uuid} shown={one} />
      ))}
      <p class="day-ends">
        <small>{DAYS} days ago</small>
        <small>today</small>
      </p>
    </section>
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
