import { ConflictError, DomainError, NotFoundError, ValidationError } from '#shared/errors.ts'
import type { JsonObject } from '#shared/monitoring/checks/json-body.ts'
import { listResponders } from '#shared/monitoring/on-call/schedule-store.ts'
import { findSwap } from '#shared/monitoring/on-call/swap-store.ts'
import { cancelSwap, offerSwap, releaseSwap, takeSwap } from '#shared/monitoring/operations/swaps.ts'
import { isUuid } from '#shared/uuid.ts'
import type { FormItem } from '../../forms/fields.tsx'
import { personOf } from '../../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import { sentenceOf } from '../../shell/format.ts'
import { deny } from '../../shell/workspace.ts'
import { sendScheduleForm } from './action-form.tsx'
import { errorsOf } from './form-state.ts'
import { requireSchedulePage } from './load.ts'
import { readLocalTimes, timeItems } from './override-form.ts'
import { actionsFor, type SwapAction } from './swap-list.tsx'

const TIMES = ['start', 'end', 'back_start', 'back_end']

export function swapPages(pages: Pages, base: string): void {
  pages.get(`${base}/:schedule/swap`, (context) => showForm(context, {}, new Map(), new Set()))
  pages.post(`${base}/:schedule/swap`, offer)
  for (const what of ['take', 'release', 'cancel'] as const)
    pages.post(`${base}/:schedule/swaps/:swap/${what}`, (context) => act(context, what))
}

/** People offer only their own time. */
async function offer(context: FormContext): Promise<void> {
  const { project, schedule, session, base } = await requireSchedulePage(context, 'respond')
  const { deps, form } = context
  const names = [...TIMES, ...TIMES.map((name) => `${name}_pass`), 'to', 'note']
  const values = Object.fromEntries(names.map((name) => [name, field(form, name)]))
  const { instants, errors, repeated } = readLocalTimes(form, TIMES, schedule.tz)
  if (errors.size > 0) return await showForm(context, values, errors, repeated)
  const hasBack = values.back_start !== '' || values.back_end !== ''
  const back = object({ start: instants.back_start ?? null, end: instants.back_end ?? null })
  const body = object({
    from: session.email,
    to: values.to || null,
    start: instants.start ?? null,
    end: instants.end ?? null,
    back: hasBack ? back : null,
    note: values.note || null,
  })
  try {
    const input = { project, uuid: schedule.uuid, body, now: deps.now() }
    await offerSwap(deps.db, personOf(context, session), input)
  } catch (error) {
    if (!(error instanceof ValidationError || error instanceof ConflictError)) throw error
    const found = new Map([...errorsOf(error.message)].map(([name, text]) => [name.replace('back.', 'back_'), text]))
    return await showForm(context, values, found, repeated)
  }
  redirect(context, `${base}/${schedule.uuid}?done=swap-saved`)
}

async function act(context: FormContext, what: SwapAction): Promise<void> {
  const workspace = await requireSchedulePage(context, 'respond')
  const { project, schedule, session, base } = workspace
  const { deps } = context
  const uuid = context.params.swap ?? ''
  const swap = isUuid(uuid) ? await findSwap(deps.db, project.id, uuid) : null
  if (!swap) throw new NotFoundError('There is no such swap.')
  const actor = personOf(context, session)
  const input = { project, uuid, now: deps.now() }
  const path = `${base}/${schedule.uuid}`
  const isPermitted = actionsFor(swap, workspace).some((action) => action.what === what)
  // Another person may have taken it since the page was loaded.
  if (!isPermitted && (what !== 'take' || swap.state === 'open'))
    return await deny(context, session, project.organisationId)
  try {
    if (what === 'take') await takeSwap(deps.db, actor, { ...input, person: session.email })
    else if (what === 'release') await releaseSwap(deps.db, actor, input)
    else await cancelSwap(deps.db, actor, input)
  } catch (error) {
    if (!(error instanceof DomainError) || error instanceof NotFoundError) throw error
    setFlash(context, path, { problem: sentenceOf(error).replace(/^Swap /, 'The swap ') })
    return redirect(context, path)
  }
  redirect(context, `${path}?done=swap-saved`)
}

async function showForm(
  context: Context,
  values: Readonly<Record<string, string>>,
  errors: ReadonlyMap<string, string>,
  repeated: ReadonlySet<string>,
): Promise<void> {
  const workspace = await requireSchedulePage(context, 'respond')
  const { project, schedule, session } = workspace
  const responders = await listResponders(context.deps.db, [project.organisationId])
  const others = responders.filter(({ email }) => email !== session.email)
  const offered = others.map(({ email, name }) => ({ value: email, label: name || email }))
  sendScheduleForm(context, workspace, {
    title: 'Swap',
    action: 'swap',
    submit: 'Offer swap',
    items: swapItems(offered, schedule.tz, repeated),
    values,
    errors,
  })
}

function swapItems(
  others: readonly { value: string; label: string }[],
  tz: string,
  repeated: ReadonlySet<string>,
): FormItem[] {
  const pair = (prefix: '' | 'back_', isRequired: boolean): FormItem => ({
    class: 'columns',
    items: (['start', 'end'] as const).map((end) => ({
      class: 'stack',
      items: timeItems(
        { name: `${prefix}${end}`, label: end === 'start' ? 'From' : 'Until', hint: `In ${tz}.`, isRequired },
        repeated,
      ),
    })),
  })
  return [
    { name: 'to', label: 'Offer to', kind: 'select', options: [{ value: '', label: 'every member' }, ...others] },
    { legend: 'My time', items: [pair('', true)] },
    { legend: 'In return, I replace the taker (optional)', items: [pair('back_', false)] },
    { name: 'note', label: 'Note', maxLength: 500 },
  ]
}

/** Bodies have no prototype. */
function object(members: JsonObject): JsonObject {
  return Object.assign(Object.create(null), members)
}
