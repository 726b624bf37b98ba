import { renderToStaticMarkup } from 'preact-render-to-string'
import { NotFoundError } from '#shared/errors.ts'
import { publishStatusPage, removeStatusPage } from '#shared/monitoring/operations/status-page.ts'
import type { StatusNote } from '#shared/monitoring/pages/status-note-store.ts'
import { findStatusPageByToken, type StatusPage } from '#shared/monitoring/pages/status-page-store.ts'
import { asTenant } from '#shared/platform/database/tenant.ts'
import { mapYielding } from '#shared/platform/process/time-slices.ts'
import { microsOfSeconds } from '#shared/time.ts'
import { type CompressedText, compressedText, sendCompressed } from '../../shell/assets.ts'
import { personOf } from '../../shell/audit.ts'
import { Exact } from '../../shell/basics.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { StatusGlyph } from '../../shell/icons.tsx'
import { renderPage, sendRendered } from '../../shell/layout.tsx'
import { requireProject } from '../../shell/workspace.ts'
import { DayBar } from '../day-bar.tsx'
import { type PublicHistory, readPublicHistory, type SharedHistory } from './public-history.ts'
import { groupsOf, overall, publicLabel, publicOrder, publicStatus } from './public-labels.ts'
import { statusFeed } from './status-feed.ts'
import { StatusLogo } from './status-logo.tsx'
import { NoteText } from './status-notes.tsx'

const DAYS = 90
const POLL_SECONDS = 60
/** Time for which an ended note stays visible. */
const NOTE_SECONDS = 7 * 86_400

type Shown = PublicHistory['shown'][number]

export function statusPagePages(pages: Pages): void {
  pages.get('/status/:token', showStatusPage)
  pages.get('/status/:token/feed.atom', sendFeed)
  pages.post('/projects/:project/status-page', save)
  pages.post('/projects/:project/status-page/remove', async (context) => {
    const { project, session } = await requireProject(context, 'manage')
    await removeStatusPage(context.deps.db, personOf(context, session), project)
    redirect(context, `/projects/${project.uuid}/status-page?done=status-page-removed`)
  })
}

async function save(context: FormContext): Promise<void> {
  const { project, session } = await requireProject(context, 'manage')
  const { deps, form } = context
  const title = field(form, 'title').slice(0, 100) || project.name
  const input = {
    project,
    title,
    tags: field(form, 'tags').slice(0, 200),
    intro: field(form, 'intro').slice(0, 500),
    isGrouped: form.has('grouped'),
    showsProgress: form.has('progress'),
  }
  await publishStatusPage(deps.db, personOf(context, session), input)
  redirect(context, `/projects/${project.uuid}/status-page?done=status-page-saved`)
}

/** An unknown address and a removed page get the same answer. */
async function requireStatusPage(context: Context): Promise<{ page: StatusPage } & SharedHistory> {
  const token = context.params.token ?? ''
  const page = /^[\w-]{22}$/.test(token) ? await findStatusPageByToken(context.deps.db, token) : null
  if (!page) throw new NotFoundError('There is no status page at this address.')
  const shared = await context.deps.publicHistories(`${page.projectId} ${page.tags}`, async () => {
    const read = () => readPublicHistory(page, DAYS, context.deps)
    return { history: await asTenant({ projectId: page.projectId }, read), rendered: new Map() }
  })
  return { page, ...shared }
}

/** Renders a text once per history; concurrent visitors share the result. */
async function renderedOnce(
  rendered: SharedHistory['rendered'],
  dependsOn: object,
  make: () => Promise<string> | string,
): Promise<CompressedText> {
  const key = JSON.stringify(dependsOn)
  const known = rendered.get(key)
  if (known) return await known
  const fresh = Promise.resolve(make()).then(compressedText)
  rendered.set(key, fresh)
  return await fresh
}

async function sendFeed(context: Context): Promise<void> {
  const { page, history, rendered } = await requireStatusPage(context)
  const url = `${context.deps.config.publicUrl}/status/${page.token}`
  const feed = await renderedOnce(rendered, { url, title: page.title }, () => statusFeed(page.title, url, history))
  sendCompressed(context.request, context.response.type('application/atom+xml'), feed)
}

async function showStatusPage(context: Context): Promise<void> {
  const { page, history, rendered } = await requireStatusPage(context)
  const { theme, tz } = context.session ?? {}
  const html = await renderedOnce(rendered, { page, theme, tz }, () => renderStatusPage(context, page, history))
  sendRendered(context, html)
}

/**
 * Renders the page once for all visitors with this theme and time zone. It must not contain anything else of the first
 * visitor.
 */
async function renderStatusPage(context: Context, page: StatusPage, history: PublicHistory): Promise<string> {
  const visible = publicOrder(history.shown)
  const state = overall(visible)
  const feed = `/status/${page.token}/feed.atom`
  // The slowest part: some tenths of a millisecond per check.
  const lines = await mapYielding(visible, (one) =>
    renderToStaticMarkup(<PublicCheck shown={one} showsProgress={page.showsProgress} />),
  )
  const lineOf = new Map(visible.map((one, index) => [one, lines[index] ?? '']))
  return renderPage(
    { ...context, csrf: '', flash: {}, query: new URLSearchParams() },
    { title: page.title, isDown: state.status === 'down', pollSeconds: POLL_SECONDS, feed },
    <div data-region="status" class="public-status">
      <StatusLogo page={{ path: `/status/${page.token}`, logoDigest: page.logoDigest }} />
      <h1>{page.title}</h1>
      {page.intro !== '' && <p class="as-typed breakable">{page.intro}</p>}
      <p class={`status-hero is-${state.status}`}>
        <StatusGlyph status={state.status} />
        {state.text}
      </p>
      {history.outageSince !== null && (
        <p class="notice">
          Outage on our side: no pings received since <Exact at={history.outageSince} isNamed />. The states below are
          older.
        </p>
      )}
      {currentNotes(history).map((note) => (
        <section key={note.uuid} class={note.endedAt === null ? 'card note' : 'card note is-over'}>
          <h2>{note.title}</h2>
          <NoteText note={note} />
        </section>
      ))}
      {groupsOf(visible, page.isGrouped).map(({ name, members }) => (
        <PublicGroup key={name} name={name} members={members} lines={members.map((one) => lineOf.get(one) ?? '')} />
      ))}
      <p class="muted foot">
        {history.outageSince === null && (
          <>
            As of <Exact at={history.now} isNamed />.{' '}
          </>
        )}
        This page is updated every minute. <a href={feed}>Feed</a>
      </p>
    </div>,
  )
}

function currentNotes({ notes, now }: PublicHistory): StatusNote[] {
  const recent = notes.filter(({ endedAt }) => endedAt === null || endedAt > now - microsOfSeconds(NOTE_SECONDS))
  return recent.toSorted((a, b) => Number(a.endedAt !== null) - Number(b.endedAt !== null))
}

/** @param props.name common tag; empty without groups @param props.lines rendered members */
function PublicGroup(props: { name: string; members: readonly Shown[]; lines: readonly string[] }) {
  const { name, members, lines } = props
  const title = (
    <h2 class="public-group">
      {name} <small>{overall(members).text}</small>
    </h2>
  )
  const ends = (
    <p class="day-ends">
      <small>{DAYS} days ago</small>
      <small>today</small>
    </p>
  )
  const content = `${name === '' ? '' : renderToStaticMarkup(title)}${lines.join('')}${renderToStaticMarkup(ends)}`
  return <section class="card table-card" aria-label={name || 'Checks'} dangerouslySetInnerHTML={{ __html: content }} />
}

function PublicCheck({ shown, showsProgress }: { shown: Shown; showsProgress: boolean }) {
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
          <span class={`public-state is-${publicStatus(shown)}`}>
            <StatusGlyph status={publicStatus(shown)} /> {publicLabel(shown, showsProgress)}
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
