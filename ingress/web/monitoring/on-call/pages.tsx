import { ForbiddenError, ValidationError } from '#shared/errors.ts'
import { feedOfPerson } from '#shared/monitoring/on-call/feed-store.ts'
import type { Shift } from '#shared/monitoring/on-call/on-call.ts'
import { listSchedules } from '#shared/monitoring/on-call/schedule-store.ts'
import { wallTimeText } from '#shared/monitoring/on-call/wall-time.ts'
import { type Warning, warningsOf } from '#shared/monitoring/on-call/warnings.ts'
import { type CurrentShift, loadCurrent, loadShifts } from '#shared/monitoring/operations/on-call-reads.ts'
import { loadScheduleUse } from '#shared/monitoring/operations/reachable.ts'
import { takeOver } from '#shared/monitoring/operations/schedules.ts'
import { mapYielding } from '#shared/platform/process/time-slices.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { ButtonForm } from '../../forms/form.tsx'
import { PageHead } from '../../lists/list.tsx'
import { personOf } from '../../shell/audit.ts'
import { Distance } from '../../shell/basics.tsx'
import { type Context, type FormContext, type Pages, redirect } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import { sentenceOf } from '../../shell/format.ts'
import { sendPage } from '../../shell/layout.tsx'
import { Problem } from '../../shell/notice.tsx'
import { type ProjectWorkspace, requireProject } from '../../shell/workspace.ts'
import { editPages } from './edit-pages.tsx'
import { createOwnFeed, endOwnFeed, FeedAddress, feedPages, PersonalFeed } from './feeds.tsx'
import { namesOf, requireSchedulePage } from './load.ts'
import { schedulePages } from './schedule-page.tsx'
import { swapPages } from './swap-pages.tsx'
import { WarningList } from './warning-list.tsx'

const MONTH: Micros = microsOfSeconds(30 * 86_400)
const OWN_SHIFTS = 5

export function onCallPages(pages: Pages): void {
  const base = '/projects/:project/on-call'
  pages.get(base, showOverview)
  pages.post(`${base}/feed`, async (context) => {
    const { project, session } = await requireProject(context, 'respond')
    await createOwnFeed(context, session, `/projects/${project.uuid}/on-call`)
  })
  pages.post(`${base}/feed/revoke`, async (context) => {
    const { project, session } = await requireProject(context, 'view')
    await endOwnFeed(context, session, `/projects/${project.uuid}/on-call`)
  })
  pages.post(`${base}/:schedule/take`, take)
  editPages(pages, base)
  swapPages(pages, base)
  feedPages(pages, base)
  schedulePages(pages, base)
}

async function showOverview(context: Context): Promise<void> {
  const workspace = await requireProject(context, 'view')
  const { project, session } = workspace
  const { db } = context.deps
  const now = context.deps.now()
  const schedules = await listSchedules(db, project)
  const [current, coming, feed] = await Promise.all([
    loadCurrent(db, schedules, { at: now, now }),
    loadShifts(db, schedules, { from: now, until: now + MONTH, now }),
    feedOfPerson(db, session.userId),
  ])
  const loaded = current.map(({ facts }) => facts)
  const visible = { organisationId: project.organisationId, visible: workspace.projects }
  const useOf = await loadScheduleUse(db, loaded, visible, context.deps)
  const warnings = await mapYielding(loaded, (facts) => warningsOf(facts, now, useOf(facts.schedule.uuid)))
  const own = coming
    .flatMap(({ facts, shifts }) =>
      shifts.filter(({ person }) => person === session.email).map((shift) => ({ ...shift, schedule: facts.schedule })),
    )
    .toSorted((a, b) => a.from - b.from)
  sendPage(
    context,
    { title: `On call · ${project.name}`, workspace, project, area: 'on-call' },
    <Overview
      context={context}
      workspace={workspace}
      cards={current.map((each, index) => ({ ...each, warnings: warnings[index] ?? [] }))}
      own={own.slice(0, OWN_SHIFTS)}
      hasFeed={feed !== null}
      now={now}
    />,
  )
}

interface Card extends CurrentShift {
  warnings: readonly Warning[]
}

function Overview(props: {
  context: Context
  workspace: ProjectWorkspace
  cards: readonly Card[]
  own: readonly (Shift & { schedule: { name: string; tz: string } })[]
  hasFeed: boolean
  now: Micros
}) {
  const { context, workspace, cards, own, hasFeed, now } = props
  const { project } = workspace
  const base = `/projects/${project.uuid}/on-call`
  return (
    <>
      <PageHead
        title="On call"
        actions={may(project.role, 'edit') ? [{ href: `${base}/new`, label: 'Add schedule' }] : []}
      />
      <Problem text={context.flash.problem} />
      <FeedAddress context={context} />
      {cards.length === 0 && (
        <p class="empty">No schedule. A schedule decides who is on call, by rotations, hours and overrides.</p>
      )}
      {cards.map((card) => (
        <ScheduleCard key={card.facts.schedule.uuid} context={context} workspace={workspace} card={card} now={now} />
      ))}
      <section class="card" aria-labelledby="own-shifts">
        <h2 id="own-shifts">My next shifts</h2>
        {own.length === 0 && <p class="muted">None in the next 30 days.</p>}
        <ul>
          {own.map(({ schedule, from, until }) => (
            <li key={`${schedule.name} ${from}`}>
              {schedule.name}: {wallTimeText(from, schedule.tz)} to {wallTimeText(until, schedule.tz)} ({schedule.tz})
            </li>
          ))}
        </ul>
        <PersonalFeed context={context} base={base} hasFeed={hasFeed} />
      </section>
    </>
  )
}

function ScheduleCard(props: { context: Context; workspace: ProjectWorkspace; card: Card; now: Micros }) {
  const { context, workspace, card, now } = props
  const { facts, current, next, isEndless, warnings } = card
  const { project, session } = workspace
  const { uuid, name, tz, projectId } = facts.schedule
  const nameOf = namesOf([facts])
  const href = `/projects/${project.uuid}/on-call/${uuid}`
  const mayTake = may(project.role, 'respond') && projectId === project.id && current?.person !== session.email
  return (
    <section class="card" aria-labelledby={`schedule-${uuid}`}>
      <div class="card-head">
        <h2 id={`schedule-${uuid}`}>
          <a href={href}>{name}</a>
        </h2>
        {mayTake && (
          <ButtonForm context={context} action={`${href}/take`} label="Take over" name={`Take over ${name}`} />
        )}
      </div>
      <p>
        {current === null ? (
          <span class="pill bad">No person on call</span>
        ) : (
          <>
            <b>{nameOf(current.person)}</b>
            {!isEndless && (
              <>
                {' '}
                until {wallTimeText(current.until, tz)} (<Distance at={current.until} now={now} />)
              </>
            )}
          </>
        )}
      </p>
      <p class="hint">
        {next ? `Next: ${nameOf(next.person)}, from ${wallTimeText(next.from, tz)}. ` : ''}Times in {tz}.
        {projectId !== project.id && ' Shared by another project.'}
      </p>
      <WarningList
        warnings={warnings}
        tz={tz}
        policyForm={may(project.role, 'edit') ? `/projects/${project.uuid}/policies/new` : null}
      />
    </section>
  )
}

async function take(context: FormContext): Promise<void> {
  const { schedule, project, session, base } = await requireSchedulePage(context, 'respond')
  const { deps } = context
  const body = Object.assign(Object.create(null), { person: session.email })
  const input = { project, uuid: schedule.uuid, body, by: session.email, now: deps.now() }
  try {
    await takeOver(deps.db, personOf(context, session), input)
  } catch (error) {
    if (!(error instanceof ValidationError || error instanceof ForbiddenError)) throw error
    const hasNoEnd = /^json validation error: until /.test(error.message)
    const problem = hasNoEnd ? 'This shift has no end. Add an override with an end instead.' : sentenceOf(error)
    setFlash(context, base, { problem })
    return redirect(context, base)
  }
  redirect(context, `${base}?done=taken-over`)
}
