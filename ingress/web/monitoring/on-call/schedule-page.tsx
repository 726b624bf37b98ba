import { feedsOf } from '#shared/monitoring/on-call/feed-store.ts'
import { layerSpans } from '#shared/monitoring/on-call/layer.ts'
import { onCallSpans } from '#shared/monitoring/on-call/on-call.ts'
import { swapsOf } from '#shared/monitoring/on-call/swap-store.ts'
import { calendarOf, dateOf, wallTimeText } from '#shared/monitoring/on-call/wall-time.ts'
import { coverageGaps, warningsOf } from '#shared/monitoring/on-call/warnings.ts'
import { loadShifts } from '#shared/monitoring/operations/on-call-reads.ts'
import { loadScheduleUse } from '#shared/monitoring/operations/reachable.ts'
import type { LoadedFacts } from '#shared/monitoring/operations/record-shifts.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import type { Micros } from '#shared/time.ts'
import { ButtonForm } from '../../forms/form.tsx'
import { PageHead } from '../../lists/list.tsx'
import { Crumb } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { sendPage } from '../../shell/layout.tsx'
import { Problem } from '../../shell/notice.tsx'
import { type BarRow, ShiftBars } from './bars.tsx'
import { FeedAddress, ScheduleFeeds } from './feeds.tsx'
import { namesOf, requireSchedulePage, type ScheduleWorkspace } from './load.ts'
import { ShiftTable } from './shift-table.tsx'
import { SwapList } from './swap-list.tsx'
import { WarningList } from './warning-list.tsx'

const DAYS = 14
const DAY_SECONDS = 86_400

export function schedulePages(pages: Pages, base: string): void {
  pages.get(`${base}/:schedule`, showSchedule)
}

async function showSchedule(context: Context): Promise<void> {
  const workspace = await requireSchedulePage(context, 'view')
  const { project, schedule, isOwn, base } = workspace
  const now = context.deps.now()
  const calendar = calendarOf(schedule)
  const date = dateOf(calendar.wallAt(now))
  const until = calendar.resolve((date + DAYS) * DAY_SECONDS)
  const from = calendar.resolve(date * DAY_SECONDS)
  const { db } = context.deps
  const [[loaded], swaps, feeds] = await Promise.all([
    loadShifts(db, [schedule], { from, until, now }),
    swapsOf(db, schedule.id),
    feedsOf(db, schedule.id),
  ])
  if (!loaded) return
  const { facts, shifts } = loaded
  const visible = { organisationId: schedule.organisationId, visible: workspace.projects }
  const useOf = await loadScheduleUse(db, [facts], visible, context.deps)
  const mayEdit = may(project.role, 'edit') && isOwn
  const mayRespond = may(project.role, 'respond') && isOwn
  const path = `${base}/${schedule.uuid}`
  sendPage(
    context,
    { title: `${schedule.name} · ${project.name}`, workspace, project, area: 'on-call' },
    <>
      <Crumb href={base} label="On call" />
      <PageHead
        title={schedule.name}
        actions={[
          ...(mayRespond
            ? [
                { href: `${path}/override`, label: 'Override' },
                { href: `${path}/swap`, label: 'Swap' },
              ]
            : []),
          ...(mayEdit ? [{ href: `${path}/edit`, label: 'Edit' }] : []),
        ]}
      />
      <Problem text={context.flash.problem} />
      <FeedAddress context={context} />
      <WarningList
        warnings={warningsOf(facts, now, useOf(schedule.uuid))}
        tz={schedule.tz}
        policyForm={may(project.role, 'edit') ? `/projects/${project.uuid}/policies/new` : null}
      />
      <ShiftBars
        rows={rowsOf(facts, shifts, { from, until, now })}
        gaps={coverageGaps(facts, now, until)}
        calendar={calendar}
        tz={schedule.tz}
        date={date}
        days={DAYS}
        now={now}
        nameOf={namesOf([facts])}
      />
      <h2>Shifts</h2>
      <ShiftTable shifts={shifts} nameOf={namesOf([facts])} tz={schedule.tz} label="Shifts" cutAt={until} />
      <SwapList context={context} workspace={workspace} facts={facts} swaps={swaps} now={now} />
      <Overrides context={context} workspace={workspace} facts={facts} now={now} />
      {mayEdit && <ScheduleFeeds context={context} path={path} feeds={feeds} />}
      {mayEdit && (
        <ButtonForm
          context={context}
          action={`${path}/delete`}
          confirm={`Delete the schedule ${schedule.name}? Its overrides and recorded shifts are deleted, too.`}
          yes="Delete schedule"
          label="Delete schedule"
          variant="danger"
        />
      )}
    </>,
  )
}

function rowsOf(
  facts: LoadedFacts,
  shifts: BarRow['spans'],
  span: { from: Micros; until: Micros; now: Micros },
): BarRow[] {
  const { from, until, now } = span
  const { layers } = facts.schedule
  const calendar = calendarOf(facts.schedule)
  const rows: BarRow[] = [{ label: 'On call', look: '', spans: shifts }]
  if (layers.length > 1)
    for (const [index, layer] of layers.entries()) {
      const label = layer.name || `Layer ${index + 1}`
      rows.push({ label, look: 'of-layer', spans: layerSpans(layer, calendar, from, until) })
    }
  const overridden = onCallSpans(facts, now, until).filter(({ source }) => source.startsWith('override'))
  if (overridden.length > 0) rows.push({ label: 'Overrides', look: 'of-override', spans: overridden })
  return rows
}

function Overrides(props: { context: Context; workspace: ScheduleWorkspace; facts: LoadedFacts; now: Micros }) {
  const { context, workspace, facts, now } = props
  const { project, schedule, base, session } = workspace
  const nameOf = namesOf([facts])
  const open = facts.overrides.filter(({ end }) => end > now)
  if (open.length === 0) return null
  const mayDelete = (createdBy: string) =>
    may(project.role, 'edit') || (may(project.role, 'respond') && createdBy === session.email)
  return (
    <section class="card" aria-labelledby="overrides">
      <h2 id="overrides">Overrides</h2>
      <ul>
        {open.map(({ uuid, number, person, replaces, start, end, note, createdBy }) => (
          <li key={uuid} class="row">
            <span class="breakable">
              {person === null ? 'No person' : nameOf(person)}
              {replaces !== null && ` instead of ${nameOf(replaces)}`}, {wallTimeText(start, schedule.tz)} to{' '}
              {wallTimeText(end, schedule.tz)}
              {note !== '' && `: ${note}`}
            </span>
            {mayDelete(createdBy) && (
              <ButtonForm
                context={context}
                action={`${base}/${schedule.uuid}/overrides/${uuid}/delete`}
                confirm={`Delete override ${number}? Its past shifts stay recorded.`}
                yes="Delete override"
                label="Delete"
                variant="quiet"
                name={`Delete override ${number}`}
              />
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
