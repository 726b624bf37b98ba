import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { nameOf } from '#shared/monitoring/checks/slug.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import type { ListedCheck } from '#shared/monitoring/pages/check-list-store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { toIsoSeconds } from '#shared/time.ts'
import type { Context } from '../../shell/context.ts'
import { StatusGlyph, statusNames } from '../../shell/icons.tsx'
import { sendPage } from '../../shell/layout.tsx'
import { liveAddress } from '../../shell/live.ts'
import type { ProjectWorkspace } from '../../shell/workspace.ts'
import { type ListView, quietOf, rowState } from './list-view.ts'
import { QuietIcon, StateText } from './row.tsx'

/** More tiles would be too small to read from a distance. */
export const WALL_SIZE = 200

const counted: readonly ShownStatus[] = ['down', 'grace', 'up', 'paused', 'new']

/** Sends the list for a wall display, without controls. Checks that are down are first. */
export function sendWall(context: Context, { project }: ProjectWorkspace, view: ListView): void {
  const { summary, now } = view
  const down = summary.statuses.get('down') ?? 0
  sendPage(
    context,
    {
      title: down > 0 ? `${down} down · ${project.name}` : project.name,
      isDown: down > 0,
      isWall: true,
      live: liveAddress(`/projects/${project.uuid}/events`, view.fingerprint),
    },
    <div class="wall" data-region="wall">
      <header class={`wall-head ${down > 0 ? 'is-down' : 'is-up'}`}>
        <h1>{project.name}</h1>
        <ul class="bare">
          {counted
            .filter((status) => (summary.statuses.get(status) ?? 0) > 0)
            .map((status) => (
              <li key={status} class={`is-${status}`}>
                <b>{summary.statuses.get(status)}</b> {statusNames[status].toLowerCase()}
              </li>
            ))}
        </ul>
      </header>
      <ul class="bare tiles">
        {wallOrder(view).map(({ check, status }) => {
          const state = rowState(check, status, view.flips.get(check.id) ?? [])
          return (
            <li
              key={check.uuid}
              id={`wall-${check.id}`}
              class={`wall-tile is-${status}`}
              data-next-change={state.nextChange === null ? undefined : toIsoSeconds(state.nextChange)}
            >
              <StatusGlyph status={status} isRunning={check.lastStart !== null} />
              <b>{nameOf(check)}</b>
              <StateText state={state} status={status} now={now} />
              <QuietIcon quiet={quietOf(view, check)} isNamed />
            </li>
          )
        })}
      </ul>
      {summary.found > view.checks.length && (
        <p class="muted">{(summary.found - view.checks.length).toLocaleString('en')} more are not shown.</p>
      )}
    </div>,
  )
}

/** By state, then by name with numbers in numerical order. Another order of the address applies as it is. */
function wallOrder({ checks, sort, now }: ListView): { check: ListedCheck; status: ShownStatus }[] {
  const shown = checks.map((check) => ({ check, status: shownStatus(check, now, nextOccurrence) }))
  if (sort !== 'status') return shown
  return shown.toSorted(
    (a, b) =>
      counted.indexOf(a.status) - counted.indexOf(b.status) ||
      nameOf(a.check).localeCompare(nameOf(b.check), 'en', { numeric: true }),
  )
}
