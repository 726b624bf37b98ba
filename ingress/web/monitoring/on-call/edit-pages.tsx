import { ConflictError, ForbiddenError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import { changedAtHandoff } from '#shared/monitoring/on-call/next-handoff.ts'
import { shifts as shiftsOfFacts } from '#shared/monitoring/on-call/on-call.ts'
import { findOverride } from '#shared/monitoring/on-call/override-store.ts'
import { readSchedule, scheduleView } from '#shared/monitoring/on-call/read-schedule.ts'
import type { ScheduleFields } from '#shared/monitoring/on-call/schedule.ts'
import { listResponders, type StoredSchedule } from '#shared/monitoring/on-call/schedule-store.ts'
import { namedIntegrations } from '#shared/monitoring/operations/check-changes.ts'
import { loadOnCallFacts } from '#shared/monitoring/operations/record-shifts.ts'
import {
  addOverride,
  createSchedule,
  deleteSchedule,
  removeOverride,
  updateSchedule,
} from '#shared/monitoring/operations/schedules.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { type Micros, microsOfSeconds, toIsoSeconds } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { personOf } from '../../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import { sendPage } from '../../shell/layout.tsx'
import { deny, requireProject } from '../../shell/workspace.ts'
import { sendScheduleForm } from './action-form.tsx'
import {
  arranged,
  bodyOfState,
  errorsOf,
  newSchedule,
  type ScheduleFormState,
  stateOfForm,
  stateOfSchedule,
  withLayer,
  withPersonMoved,
} from './form-state.ts'
import { namesOf, requireSchedulePage } from './load.ts'
import { OVERRIDE_NAMES, overrideItems, readOverrideForm } from './override-form.ts'
import { ScheduleForm } from './schedule-form.tsx'

const PREVIEWED: Micros = microsOfSeconds(93 * 86_400)

export function editPages(pages: Pages, base: string): void {
  pages.get(`${base}/new`, async (context) => {
    const { session } = await requireProject(context, 'edit')
    const schedule = newSchedule(dateNow(context))
    const layers = schedule.layers.map((layer) => ({ ...layer, people: [session.email] }))
    await showForm(context, null, stateOfSchedule({ ...schedule, layers }))
  })
  pages.post(`${base}/new`, (context) => save(context, null))
  pages.get(`${base}/:schedule/edit`, async (context) => {
    const { schedule } = await requireSchedulePage(context, 'edit')
    await showForm(context, schedule, stateOfSchedule(schedule))
  })
  pages.post(`${base}/:schedule/edit`, async (context) => {
    await save(context, (await requireSchedulePage(context, 'edit')).schedule)
  })
  pages.post(`${base}/:schedule/delete`, async (context) => {
    const { project, projects, session, schedule, base: list } = await requireSchedulePage(context, 'edit')
    try {
      const { deps } = context
      const input = { project, uuid: schedule.uuid, now: deps.now(), visible: projects }
      await deleteSchedule(deps.db, personOf(context, session), input, deps)
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
      const page = `${list}/${schedule.uuid}`
      setFlash(context, page, { problem: `The schedule ${error.message}. Change the policy first.` })
      return redirect(context, page)
    }
    redirect(context, `${list}?done=schedule-deleted`)
  })
  pages.get(`${base}/:schedule/override`, (context) => showOverride(context, {}, new Map(), new Set()))
  pages.post(`${base}/:schedule/override`, saveOverride)
  pages.post(`${base}/:schedule/overrides/:override/delete`, endOverride)
}

const dateNow = ({ deps }: Context) => toIsoSeconds(deps.now()).slice(0, 10)

/** Saves the form, or shows it again with another layer or with its errors. */
async function save(context: FormContext, schedule: StoredSchedule | null): Promise<void> {
  const { project, session } = await requireProject(context, 'edit')
  const { deps, form } = context
  const state = stateOfForm(form)
  const changed = changedForm(state, field(form, 'do'), dateNow(context))
  if (changed) return await showForm(context, schedule, changed)
  const body = bodyOfState(state)
  const now = deps.now()
  const actor = personOf(context, session)
  try {
    if (!schedule) {
      const { uuid } = await createSchedule(deps.db, actor, { project, body, now })
      return redirect(context, `/projects/${project.uuid}/on-call/${uuid}?done=schedule-saved`)
    }
    const read = readSchedule(body, schedule, await namedIntegrations(deps.db, project.id))
    if (state.values.effective === 'handoff') {
      const layers = changedAtHandoff(schedule, read.layers, now)
      body.layers = JSON.parse(JSON.stringify(scheduleView({ ...read, layers }).layers))
    }
    await updateSchedule(deps.db, actor, { project, uuid: schedule.uuid, body, now })
  } catch (error) {
    if (!(error instanceof ValidationError || error instanceof ConflictError || error instanceof ForbiddenError))
      throw error
    return await showForm(context, schedule, state, savingErrors(error))
  }
  redirect(context, `/projects/${project.uuid}/on-call/${schedule.uuid}?done=schedule-saved`)
}

function savingErrors(error: Error): ReadonlyMap<string, string> {
  if (error instanceof ConflictError) return new Map([['name', 'Another schedule has this name.']])
  return errorsOf(error.message)
}

/** @returns null if the form must be saved */
function changedForm(state: ScheduleFormState, wish: string, date: string): ScheduleFormState | null {
  if (wish === 'draft') return state
  if (wish === 'add') return withLayer(state, date)
  const [, act, layer, person] = /^person-(up|remove)-(\d)-(\d{1,2})$/.exec(wish) ?? []
  if (act === 'up' || act === 'remove')
    return withPersonMoved(state, { what: act, layer: Number(layer), index: Number(person) })
  const [, what, text] = /^(remove|up)-(\d)$/.exec(wish) ?? []
  if (what === undefined) return null
  const index = Number(text)
  const order = Array.from({ length: state.layers }, (_, at) => at)
  if (what === 'remove')
    return arranged(
      state,
      order.filter((at) => at !== index),
    )
  return arranged(
    state,
    order.map((at) => (at === index - 1 ? index : at === index ? index - 1 : at)),
  )
}

async function showForm(
  context: Context,
  schedule: StoredSchedule | null,
  state: ScheduleFormState,
  errors: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  const workspace = await requireProject(context, 'edit')
  const { project } = workspace
  const { db } = context.deps
  const now = context.deps.now()
  const [responders, integrations] = await Promise.all([
    listResponders(db, [project.organisationId]),
    listIntegrations(db, project.id),
  ])
  const people = new Map(responders.map((person) => [person.email, person]))
  const [facts] = schedule ? await loadOnCallFacts(db, [schedule], now) : []
  const draft = draftOf(state)
  const members = new Set(people.keys())
  const until = now + PREVIEWED
  const shown = draft && shiftsOfFacts({ schedule: draft, overrides: facts?.overrides ?? [], members }, now, until)
  sendPage(
    context,
    { title: `${schedule?.name ?? 'New schedule'} · ${project.name}`, workspace, project, area: 'on-call' },
    <ScheduleForm
      context={context}
      base={`/projects/${project.uuid}/on-call`}
      schedule={schedule}
      state={state}
      errors={errors}
      shifts={shown}
      cutAt={until}
      nameOf={namesOf([{ people }])}
      members={responders}
      integrations={integrations}
      tz={draft?.tz ?? 'UTC'}
    />,
    errors.size === 0 ? 200 : 400,
  )
}

/** Returns null for a form with errors. A name is not needed for the preview. */
function draftOf(state: ScheduleFormState): ScheduleFields | null {
  try {
    return readSchedule({ ...bodyOfState(state), name: 'draft', notices: null }, null, [])
  } catch (error) {
    if (error instanceof ValidationError) return null
    throw error
  }
}

async function showOverride(
  context: Context,
  values: Readonly<Record<string, string>>,
  errors: ReadonlyMap<string, string>,
  repeated: ReadonlySet<string>,
): Promise<void> {
  const workspace = await requireSchedulePage(context, 'respond')
  const { project, schedule, session } = workspace
  const responders = await listResponders(context.deps.db, [project.organisationId])
  const offered = may(project.role, 'edit') ? responders : responders.filter(({ email }) => email === session.email)
  const members = offered.map(({ email, name }) => ({ value: email, label: name || email }))
  sendScheduleForm(context, workspace, {
    title: 'Override',
    action: 'override',
    submit: 'Save override',
    items: overrideItems(members, schedule.tz, repeated),
    values: { person: session.email, ...values },
    errors,
  })
}

/** Without the right to edit, people put only themselves on call. */
async function saveOverride(context: FormContext): Promise<void> {
  const { project, schedule, session, base } = await requireSchedulePage(context, 'respond')
  const { deps, form } = context
  const values = Object.fromEntries(OVERRIDE_NAMES.map((name) => [name, field(form, name)]))
  if (values.person !== session.email && !may(project.role, 'edit'))
    return await deny(context, session, project.organisationId)
  const { body, errors, repeated } = readOverrideForm(form, schedule.tz)
  if (errors.size > 0) return await showOverride(context, values, errors, repeated)
  const input = { project, uuid: schedule.uuid, body, by: session.email, now: deps.now() }
  try {
    await addOverride(deps.db, personOf(context, session), input)
  } catch (error) {
    if (!(error instanceof ValidationError || error instanceof ForbiddenError)) throw error
    return await showOverride(context, values, errorsOf(error.message), repeated)
  }
  redirect(context, `${base}/${schedule.uuid}?done=override-saved`)
}

async function endOverride(context: FormContext): Promise<void> {
  const { project, schedule, session, base } = await requireSchedulePage(context, 'respond')
  const { deps } = context
  const uuid = context.params.override ?? ''
  const override = isUuid(uuid) ? await findOverride(deps.db, project.id, uuid) : null
  if (!override) throw new NotFoundError('There is no such override.')
  if (override.createdBy !== session.email && !may(project.role, 'edit'))
    return await deny(context, session, project.organisationId)
  await removeOverride(deps.db, personOf(context, session), { project, uuid, now: deps.now() })
  redirect(context, `${base}/${schedule.uuid}?done=override-deleted`)
}
