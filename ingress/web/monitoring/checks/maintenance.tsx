import type { Knex } from 'knex'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import {
  coversMuchOfWeek,
  excludedSpans,
  openWindows,
  timedWindows,
  WEEK,
  windowNow,
} from '#shared/monitoring/maintenance/spans.ts'
import { isMute, type WindowTime } from '#shared/monitoring/maintenance/window.ts'
import { type StoredWindow, windowsOf } from '#shared/monitoring/maintenance/window-store.ts'
import { runYielding } from '#shared/platform/process/time-slices.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { ButtonForm, Form } from '../../forms/form.tsx'
import { Exact } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'

export interface Maintenance {
  /** the current window; of several, the window that ends last */
  current: { window: StoredWindow; until: Micros } | null
  /** merged: what does not count as uptime or downtime in the days looked at */
  excluded: WindowTime[]
  /** true if maintenance covers most of the coming week */
  isMuchOfWeek: boolean
}

/** Loads the effect of maintenance on one check. @param days number of past days to include */
export async function loadMaintenance(
  db: Knex,
  check: { uuid: string; tags: string; projectId: number },
  now: Micros,
  days: number,
): Promise<Maintenance> {
  const windows = await windowsOf(db, [check.projectId])
  const about = { uuid: check.uuid, tags: splitTags(check.tags) }
  return {
    current: windowNow(await runYielding(openWindows(windows, now)), about),
    excluded: excludedSpans(await runYielding(timedWindows(windows, now - microsOfSeconds(days * 86_400), now)), about),
    isMuchOfWeek: coversMuchOfWeek(await runYielding(timedWindows(windows, now, now + WEEK)), about, now),
  }
}

/** Shown beside the state: the check may be down because of maintenance. */
export function MaintenanceNote({ maintenance, base }: { maintenance: Maintenance; base: string }) {
  const { current, isMuchOfWeek } = maintenance
  return (
    <>
      {current && (
        <p class="notice">
          {isMute(current.window) ? (
            'Muted'
          ) : (
            <>
              In <a href={`${base}/windows`}>maintenance</a>
              {current.window.name !== '' && ` “${current.window.name}”`}
            </>
          )}{' '}
          until <Exact at={current.until} isNamed />: no alerts before.
        </p>
      )}
      {isMuchOfWeek && (
        <p class="problem">
          In <a href={`${base}/windows`}>maintenance</a> for more than half of the next seven days: most outages would
          not be reported.
        </p>
      )}
    </>
  )
}

const HOURS = [1, 2, 4, 8, 24, 72]

export function MuteLengths({ id }: { id: string }) {
  return (
    <select id={id} name="hours">
      {HOURS.map((hours) => (
        <option key={hours} value={hours}>
          {hours === 1 ? '1 hour' : hours < 48 ? `${hours} hours` : `${hours / 24} days`}
        </option>
      ))}
    </select>
  )
}

/** Mutes a check from now on, or ends that. */
export function MuteForm(props: { context: Context; path: string; maintenance: Maintenance }) {
  const { context, path, maintenance } = props
  if (maintenance.current && isMute(maintenance.current.window))
    return <ButtonForm context={context} action={`${path}/unmute`} label="Unmute" />
  return (
    <details class="menu">
      <summary>Mute</summary>
      <Form context={context} action={`${path}/mute`} class="inline">
        <label for="mute">No alerts for</label>
        <MuteLengths id="mute" />
        <button type="submit">Mute</button>
        <p class="hint">Pings still count. If it is down afterwards, you are notified.</p>
      </Form>
    </details>
  )
}
