import { ConflictError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { nameOf } from '#shared/monitoring/checks/slug.ts'
import { findCheck } from '#shared/monitoring/checks/store.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import type { CheckOfProject } from '#shared/monitoring/operations/check-changes.ts'
import { copyCheck, deleteCheck, pauseCheck, resumeCheck, updateCheck } from '#shared/monitoring/operations/checks.ts'
import { toggleIntegration } from '#shared/monitoring/operations/integrations.ts'
import { transferCheck } from '#shared/monitoring/operations/projects.ts'
import { muteChecks, unmuteChecks } from '#shared/monitoring/operations/windows.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import type { Actor } from '#shared/tenancy/actor.ts'
import { isUuid } from '#shared/uuid.ts'
import { safeNext } from '../../account/safe-next.ts'
import { personOf } from '../../shell/audit.ts'
import { sendConfirmation } from '../../shell/confirm-page.tsx'
import { type Context, type Flash, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { goBack } from '../../shell/flash.ts'
import { deny, requireCheckPage, requireProject } from '../../shell/workspace.ts'

export function checkActions(pages: Pages): void {
  pages.post('/checks/:check/pause', (context) => switchState(context, 'pause'))
  pages.post('/checks/:check/resume', (context) => switchState(context, 'resume'))
  pages.post('/checks/:check/mute', mute)
  pages.post('/checks/:check/unmute', unmute)
  pages.post('/checks/toggle', toggle)
  pages.post('/checks/:check/copy', copy)
  pages.post('/checks/:check/transfer', transfer)
  pages.post('/checks/:check/delete', remove)
  pages.post('/projects/:project/checks/bulk', bulk)
}

/** Limits the undo data, which must fit into a cookie. */
const MAX_UNDONE = 60
const inverses: Readonly<Record<string, string>> = {
  pause: 'resume',
  resume: 'pause',
  mute: 'unmute',
  tag: 'untag',
  untag: 'tag',
}

/** Returns the action that undoes a change; empty if it cannot be undone. */
function undoOf(projectUuid: string, verb: string, uuids: readonly string[], tag: string, back: string): Flash {
  const inverse = inverses[verb]
  if (inverse === undefined || uuids.length === 0 || uuids.length > MAX_UNDONE) return {}
  const fields = { do: [inverse], check: uuids, back: [back], ...(tag !== '' && { tag: [tag] }) }
  return { undo: { action: `/projects/${projectUuid}/checks/bulk`, fields } }
}

async function switchState(context: FormContext, verb: 'pause' | 'resume'): Promise<void> {
  const { check, project, session } = await requireCheckPage(context, 'edit')
  await switchOne(context, personOf(context, session), { project, id: check.id, uuid: check.uuid }, verb)
  const path = `/checks/${check.uuid}`
  const back = safeNext(context.form.get('back'))
  const notice = `${nameOf(check)}: ${doneLabels[verb]}.`
  goBack(context, path, { notice, ...undoOf(project.uuid, verb, [check.uuid], '', back === '/' ? path : back) })
}

/** Ignores a repeated press: a check that is already resumed is not an error. */
async function switchOne(
  context: Context,
  actor: Actor,
  check: CheckOfProject,
  verb: 'pause' | 'resume',
): Promise<void> {
  const { deps } = context
  if (verb === 'pause') await pauseCheck(deps.db, actor, check, deps)
  else {
    await resumeCheck(deps.db, actor, check, deps).catch((error: unknown) => {
      if (!(error instanceof ConflictError)) throw error
    })
  }
}

async function mute(context: FormContext): Promise<void> {
  const { check, project, session } = await requireCheckPage(context, 'edit')
  const input = { project, uuids: [check.uuid], seconds: muteSeconds(context), now: context.deps.now() }
  await muteChecks(context.deps.db, personOf(context, session), input)
  goBack(context, `/checks/${check.uuid}`, { notice: `${nameOf(check)}: muted.` })
}

async function unmute(context: FormContext): Promise<void> {
  const { check, project, session } = await requireCheckPage(context, 'edit')
  const input = { project, uuids: [check.uuid], now: context.deps.now() }
  await unmuteChecks(context.deps.db, personOf(context, session), input)
  goBack(context, `/checks/${check.uuid}`, { notice: `${nameOf(check)}: no longer muted.` })
}

const MAX_MUTE_HOURS = 72

/** Returns the duration of the form; one hour by default. */
function muteSeconds({ form }: FormContext): number {
  const hours = field(form, 'hours')
  const isValid = /^[1-9]\d?$/.test(hours) && Number(hours) <= MAX_MUTE_HOURS
  if (hours !== '' && !isValid) throw new ValidationError(`hours must be between 1 and ${MAX_MUTE_HOURS}.`)
  return Number(hours || '1') * 3600
}

/** In the list, the name of each button is the uuid of a check, and its value that of an integration. */
async function toggle(context: FormContext): Promise<void> {
  const named = [...context.form].find(([name, value]) => isUuid(name) && isUuid(value))
  if (!named) throw new ValidationError('Which check and integration?')
  const [uuid, integrationUuid] = named
  const requested = { ...context, params: { ...context.params, check: uuid } }
  const { check, project, session } = await requireCheckPage(requested, 'edit')
  await toggleIntegration(context.deps.db, personOf(context, session), { project, check, integrationUuid })
  goBack(context, `/checks/${check.uuid}`)
}

async function copy(context: FormContext): Promise<void> {
  const { check, project, session } = await requireCheckPage(context, 'edit')
  const made = await copyCheck(context.deps.db, personOf(context, session), { project, check }, context.deps)
  redirect(context, `/checks/${made.uuid}?done=check-copied`)
}

/** Requires the right to manage both projects, because the members of the old project lose the check. */
async function transfer(context: FormContext): Promise<void> {
  const { check, project, projects, session } = await requireCheckPage(context, 'manage')
  const { deps, form } = context
  const target = projects.find(({ uuid }) => uuid === field(form, 'project'))
  if (!target) throw new NotFoundError('There is no such project, or it is not one of yours.')
  if (!may(target.role, 'manage')) return await deny(context, session, target.organisationId)
  await transferCheck(deps.db, personOf(context, session), { uuid: check.uuid, from: project, to: target }, deps)
  redirect(context, `/checks/${check.uuid}?done=check-transferred`)
}

async function remove(context: FormContext): Promise<void> {
  const { check, project, session } = await requireCheckPage(context, 'edit')
  const { deps } = context
  await deleteCheck(deps.db, personOf(context, session), { project, id: check.id, uuid: check.uuid }, deps)
  redirect(context, `/projects/${project.uuid}/checks?done=check-deleted`)
}

/** Skips selected checks that were deleted meanwhile. */
async function bulk(context: FormContext): Promise<void> {
  const { project, session } = await requireProject(context, 'edit')
  const { deps, form } = context
  const actor = personOf(context, session)
  const verb = field(form, 'do')
  const uuids = [...new Set(form.getAll('check').filter(isUuid))].slice(0, 100)
  const tag = field(form, 'tag').replace(/\s+/g, '-')
  const own: (CheckOfProject & { name: string; tags: string })[] = []
  for (const uuid of uuids) {
    const check = await findCheck(deps.db, uuid)
    if (check?.projectId === project.id)
      own.push({ project, id: check.id, uuid, name: nameOf(check), tags: check.tags })
  }
  if (verb === 'delete' && !form.has('_confirmed') && own.length > 0) {
    const names = own.map(({ name }) => name).join(', ')
    return sendConfirmation(
      context,
      `Delete ${countOf(own.length)} with their logs: ${names}? This cannot be undone.`,
      'Delete',
    )
  }
  const changed: string[] = []
  if (verb === 'mute' && own.length > 0) {
    changed.push(...own.map(({ uuid }) => uuid))
    const input = { project, uuids: changed, seconds: muteSeconds(context), now: deps.now() }
    await muteChecks(deps.db, actor, input)
  } else if (verb === 'unmute')
    changed.push(
      ...(await unmuteChecks(deps.db, actor, { project, uuids: own.map(({ uuid }) => uuid), now: deps.now() })),
    )
  for (const { name: _, tags, ...check } of own) {
    if (verb === 'pause' || verb === 'resume') await switchOne(context, actor, check, verb)
    else if (verb === 'delete') await deleteCheck(deps.db, actor, check, deps)
    else if (verb === 'tag' && tag !== '' && !splitTags(tags).includes(tag)) {
      const body = Object.assign(Object.create(null), { tags: `${tags} ${tag}`.trim() })
      await updateCheck(deps.db, actor, { ...check, body, slugFromName: false }, deps)
    } else if (verb === 'untag' && splitTags(tags).includes(tag)) {
      const body = Object.assign(Object.create(null), {
        tags: splitTags(tags)
          .filter((one) => one !== tag)
          .join(' '),
      })
      await updateCheck(deps.db, actor, { ...check, body, slugFromName: false }, deps)
    } else continue
    changed.push(check.uuid)
  }
  const path = `/projects/${project.uuid}/checks`
  if (changed.length === 0)
    return goBack(context, path, { notice: 'Nothing was selected, or no selected check needed the change.' })
  const notice = `${countOf(changed.length)} ${doneLabels[verb] ?? 'changed'}.`
  const back = safeNext(form.get('back'))
  goBack(context, path, { notice, ...undoOf(project.uuid, verb, changed, tag, back === '/' ? path : back) })
}

const doneLabels: Readonly<Record<string, string>> = {
  pause: 'paused',
  resume: 'resumed',
  mute: 'muted',
  unmute: 'unmuted',
  delete: 'deleted',
  tag: 'tagged',
  untag: 'untagged',
}

function countOf(count: number): string {
  return `${count} ${count === 1 ? 'check' : 'checks'}`
}
