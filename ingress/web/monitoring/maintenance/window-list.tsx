import { nextTime } from '#shared/monitoring/maintenance/spans.ts'
import type { StoredWindow } from '#shared/monitoring/maintenance/window-store.ts'
import type { Micros } from '#shared/time.ts'
import { Exact } from '../../components/basics.tsx'
import { ButtonForm } from '../../forms/form.tsx'
import { PageHead } from '../../lists/list.tsx'
import type { Context } from '../../shell/context.ts'
import { humanDuration } from '../../shell/format.ts'

interface ListedWindow extends StoredWindow {
  /** of the checks that it applies to */
  names: readonly string[]
}

interface Props {
  context: Context
  base: string
  windows: readonly ListedWindow[]
  /** names of checks that are in maintenance for most of the week to come */
  warned: readonly string[]
  mayEdit: boolean
  now: Micros
}

const NAMED = 5

/** The maintenance windows of a project: current, coming and past. */
export function WindowList({ context, base, windows, warned, mayEdit, now }: Props) {
  return (
    <>
      <PageHead title="Maintenance" actions={mayEdit ? [{ href: `${base}/new`, label: 'Plan maintenance' }] : []} />
      <p>
        Planned time in which a check may be down. No alerts during maintenance; anything still down is reported at the
        end.
      </p>
      {warned.length > 0 && (
        <p class="problem">
          In maintenance for more than half of the next seven days: {namesText(warned)}. Most outages would not be
          reported.
        </p>
      )}
      {windows.length === 0 && <p class="empty">No maintenance is planned.</p>}
      {windows.map((window) => (
        <section class="card" key={window.uuid} aria-labelledby={`window-${window.uuid}`}>
          <div class="card-head">
            <h2 id={`window-${window.uuid}`}>
              {mayEdit ? (
                <a href={`${base}/${window.uuid}`}>{window.name || 'Maintenance'}</a>
              ) : (
                window.name || 'Maintenance'
              )}
            </h2>
            {mayEdit && <Actions context={context} path={`${base}/${window.uuid}`} window={window} now={now} />}
          </div>
          <p>
            <When window={window} now={now} />
          </p>
          <p class="hint breakable">
            {namesText(window.names)}.{window.uptime === 'exclude' && ' It does not count as uptime or downtime.'}
            {window.shown && ' The status page shows it.'}
          </p>
        </section>
      ))}
    </>
  )
}

function Actions(props: { context: Context; path: string; window: ListedWindow; now: Micros }) {
  const { context, path, window, now } = props
  const next = nextTime(window, now)
  return (
    <div class="row">
      {next !== null && next.from <= now && (
        <ButtonForm
          context={context}
          action={`${path}/end`}
          confirm={`End ${window.name || 'this maintenance'} now? Anything still down is reported at once.`}
          yes="End it"
          label={'starts' in window.time ? 'End it now' : 'End it now, this time only'}
        />
      )}
      <ButtonForm
        context={context}
        action={`${path}/delete`}
        confirm={`Delete ${window.name || 'this maintenance'}? Its time counts again, and its held-back alerts are sent.`}
        yes="Delete"
        label="Delete"
        look="quiet"
        name={`Delete ${window.name || 'this maintenance'}`}
      />
    </div>
  )
}

/** `Now, until 03:00`; `From … to …`; `Over since …`; of a recurring one its next time. */
function When({ window, now }: { window: ListedWindow; now: Micros }) {
  const { time } = window
  const next = nextTime(window, now)
  return (
    <>
      {!('starts' in time) && (
        <>
          <code>{time.every}</code> for {humanDuration(time.for)}, in the time zone {time.tz}.{' '}
        </>
      )}
      {next === null ? (
        'starts' in time ? (
          <>
            Over since <Exact at={time.ends} isNamed />.
          </>
        ) : (
          'It does not occur again.'
        )
      ) : next.from <= now ? (
        <>
          <b>Now</b>, until <Exact at={next.until} isNamed />.
        </>
      ) : (
        <>
          {'starts' in time ? 'From' : 'Next from'} <Exact at={next.from} isNamed /> to{' '}
          <Exact at={next.until} isNamed />.
        </>
      )}
    </>
  )
}

function namesText(names: readonly string[]): string {
  if (names.length === 0) return 'No check'
  const more = names.length - NAMED
  return more > 0 ? `${names.slice(0, NAMED).join(', ')} and ${more} more` : names.join(', ')
}
