import { ForbiddenError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { listShownChecks } from '#shared/monitoring/checks/shown-store.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { coversMuchOfWeek, nextTime, timedWindows, WEEK } from '#shared/monitoring/maintenance/spans.ts'
import { isAbout } from '#shared/monitoring/maintenance/window.ts'
import { findWindow, type StoredWindow, windowsOf } from '#shared/monitoring/maintenance/window-store.ts'
import { deleteWindow, endWindow, storeWindow } from '#shared/monitoring/operations/windows.ts'
import { mapYielding, runYielding } from '#shared/platform/process/time-slices.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import type { Micros } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { ButtonForm } from '../../forms/form.tsx'
import { PageHead } from '../../lists/list.tsx'
import { personOf } from '../../shell/audit.ts'
import { Exact } from '../../shell/basics.tsx'
import { type Context, type FormContext, type Pages, redirect } from '../../shell/context.ts'
import { humanDuration } from '../../shell/format.ts'
import { sendPage } from '../../shell/layout.tsx'
import { requireProject } from '../../shell/workspace.ts'
import { chosenChecks } from '../choices.tsx'
import {
  bodyOfState,
  errorsOf,
  hasUnknownZone,
  NEW_WINDOW,
  stateOfForm,
  stateOfWindow,
  WindowForm,
  type WindowFormState,
} from './window-form.tsx'

/** Planned maintenance of a project's checks. */
export function windowPages(pages: Pages): void {
  const base = '/projects/:project/windows'
  pages.get(base, showList)
  pages.get(`${base}/new`, (context) => showForm(context, null, NEW_WINDOW))
  pages.post(`${base}/new`, (context) => save(context, null))
  pages.get(`${base}/:window`, async (context) => {
    const window = await requireWindow(context)
    await showForm(context, window, stateOfWindow(window))
  })
  pages.post(`${base}/:window`, async (context) => save(context, await requireWindow(context)))
  pages.post(`${base}/:window/end`, end)
  pages.post(`${base}/:window/delete`, async (context) => {
    const { project, session } = await requireProject(context, 'edit')
    const { uuid } = await requireWindow(context)
    await deleteWindow(context.deps.db, personOf(context, session), { project, uuid })
    redirect(context, `/projects/${project.uuid}/windows?done=window-deleted`)
  })
}

async function requireWindow(context: Context): Promise<StoredWindow> {
  const { project } = await requireProject(context, 'edit')
  const uuid = context.params.window ?? ''
  const window = isUuid(uuid) ? await findWindow(context.deps.db, project.id, uuid) : null
  if (!window) throw new NotFoundError('There is no such maintenance.')
  return window
}

async function save(context: FormContext, window: StoredWindow | null): Promise<void> {
  const { project, session } = await requireProject(context, 'edit')
  const { deps, form } = context
  const state = stateOfForm(form)
  const all = await listShownChecks(deps.db, project.id)
  const choice = chosenChecks(state.checks, state.values.add_check ?? '', all)
  if ('error' in choice) return await showForm(context, window, state, new Map([['add_check', choice.error]]))
  if (hasUnknownZone(state)) return await showForm(context, window, state, errorsOf('json validation error: tz '))
  const body = bodyOfState({ ...state, checks: choice.uuids })
  try {
    const input = { project, uuid: window?.uuid ?? null, body, now: deps.now() }
    await storeWindow(deps.db, personOf(context, session), input)
  } catch (error) {
    if (!(error instanceof ValidationError || error instanceof ForbiddenError)) throw error
    return await showForm(context, window, { ...state, checks: choice.uuids }, errorsOf(error.message))
  }
  redirect(context, `/projects/${project.uuid}/windows?done=window-saved`)
}

/** Ends the current maintenance; of a recurring window only this occurrence. */
async function end(context: FormContext): Promise<void> {
  const { project, session } = await requireProject(context, 'edit')
  const { uuid } = await requireWindow(context)
  const { deps } = context
  await endWindow(deps.db, personOf(context, session), { project, uuid, now: deps.now() })
  redirect(context, `/projects/${project.uuid}/windows?done=window-ended`)
}

async function showForm(
  context: Context,
  window: StoredWindow | null,
  state: WindowFormState,
  errors: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  const workspace = await requireProject(context, 'edit')
  const { project } = workspace
  const checks = await listShownChecks(context.deps.db, project.id)
  sendPage(
    context,
    { title: `${window?.name || 'Maintenance'} · ${project.name}`, workspace, project, area: 'windows' },
    <WindowForm
      context={context}
      base={`/projects/${project.uuid}/windows`}
      window={window}
      state={state}
      errors={errors}
      checks={checks}
    />,
    errors.size === 0 ? 200 : 400,
  )
}

async function showList(context: Context): Promise<void> {
  const workspace = await requireProject(context, 'view')
  const { project } = workspace
  const { db } = context.deps
  const now = context.deps.now()
  const [windows, all] = await Promise.all([windowsOf(db, [project.id]), listShownChecks(db, project.id)])
  const checks = all.map(({ uuid, name, tags }) => ({ uuid, name, tags: splitTags(tags) }))
  const timed = await runYielding(timedWindows(windows, now, now + WEEK))
  const nameOf = ({ name }: { name: string }) => name || 'A check without a name'
  const shown = await mapYielding(windows, (window) => ({
    ...window,
    names: checks.filter((check) => isAbout(window, check)).map(nameOf),
  }))
  const covered = await mapYielding(checks, (check) => (coversMuchOfWeek(timed, check, now) ? [nameOf(check)] : []))
  sendPage(
    context,
    { title: `Maintenance · ${project.name}`, workspace, project, area: 'windows' },
    <WindowList
      context={context}
      base={`/projects/${project.uuid}/windows`}
      windows={shown}
      warned={covered.flat()}
      mayEdit={may(project.role, 'edit')}
      now={now}
    />,
  )
}

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
function WindowList({ context, base, windows, warned, mayEdit, now }: Props) {
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
        variant="quiet"
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
