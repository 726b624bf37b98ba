import { ForbiddenError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { listShownChecks } from '#shared/monitoring/checks/shown-store.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { coversMuchOfWeek, timedWindows, WEEK } from '#shared/monitoring/maintenance/spans.ts'
import { isAbout } from '#shared/monitoring/maintenance/window.ts'
import { findWindow, type StoredWindow, windowsOf } from '#shared/monitoring/maintenance/window-store.ts'
import { deleteWindow, endWindow, storeWindow } from '#shared/monitoring/operations/windows.ts'
import { mapYielding, runYielding } from '#shared/platform/process/time-slices.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { isUuid } from '#shared/uuid.ts'
import { chosenChecks } from '../../components/choices.tsx'
import { personOf } from '../../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { secondsOf } from '../../shell/format.ts'
import { sendPage } from '../../shell/layout.tsx'
import { checkPath, requireCheckPage, requireProject } from '../../shell/workspace.ts'
import { WindowForm } from './window-form.tsx'
import { WindowList } from './window-list.tsx'
import {
  bodyOfState,
  errorsOf,
  hasUnknownZone,
  NEW_WINDOW,
  stateOfForm,
  stateOfWindow,
  type WindowFormState,
} from './window-state.ts'

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
  pages.post('/checks/:check/snooze', snooze)
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
    const errors =
      error instanceof ForbiddenError
        ? new Map([['', 'The project has as many of them as it may: 100.']])
        : errorsOf(error.message)
    return await showForm(context, window, { ...state, checks: choice.uuids }, errors)
  }
  redirect(context, `/projects/${project.uuid}/windows?done=window-saved`)
}

/** Ends what goes on now; of a recurring window only this time. */
async function end(context: FormContext): Promise<void> {
  const { project, session } = await requireProject(context, 'edit')
  const { uuid } = await requireWindow(context)
  const { deps } = context
  await endWindow(deps.db, personOf(context, session), { project, uuid, now: deps.now() })
  redirect(context, `/projects/${project.uuid}/windows?done=window-ended`)
}

/** Maintenance of one check from now on. */
async function snooze(context: FormContext): Promise<void> {
  const { project, session, check } = await requireCheckPage(context, 'edit')
  const { deps, form } = context
  const seconds = secondsOf(field(form, 'for'), 'hours')
  const body = { checks: [check.uuid], for: seconds }
  await storeWindow(deps.db, personOf(context, session), { project, uuid: null, body, now: deps.now() })
  redirect(context, `${checkPath(check, project)}?done=window-saved`)
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
