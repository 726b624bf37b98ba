import { ConflictError, ForbiddenError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { pause, resume } from '#shared/monitoring/checks/state-machine.ts'
import {
  type AssignedCheck,
  assignChannels,
  countChecks,
  findCheck,
  insertCheck,
  lockCheck,
} from '#shared/monitoring/checks/store.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { toggleAssignment } from '#shared/monitoring/pages/integration-store.ts'
import { moveCheck } from '#shared/monitoring/projects/changes-store.ts'
import { lockProject } from '#shared/monitoring/projects/store.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { isUuid } from '#shared/uuid.ts'
import { updateCheck } from '../../monitoring/check-changes.ts'
import { changeState, removeCheck } from '../../monitoring/check-states.ts'
import { safeNext } from '../accounts/sign-in.tsx'
import { audit } from '../frame/audit.ts'
import { type FormContext, field, type Pages, redirect } from '../frame/context.ts'
import { deny, openCheck, openProject } from '../frame/workspace.ts'
import { nameOf } from './row.tsx'
import { asWriter } from './write.tsx'

/** What buttons do with checks that exist. */
export function checkActions(pages: Pages): void {
  pages.post('/checks/:check/pause', (context) => switchState(context, 'pause'))
  pages.post('/checks/:check/resume', (context) => switchState(context, 'resume'))
  pages.post('/checks/:check/toggle', toggle)
  pages.post('/checks/:check/copy', copy)
  pages.post('/checks/:check/transfer', transfer)
  pages.post('/checks/:check/delete', remove)
  pages.post('/projects/:project/checks/bulk', bulk)
}

function goBack(context: FormContext, otherwise: string): void {
  const back = safeNext(context.form.get('back'))
  redirect(context, back === '/' ? otherwise : back)
}

async function switchState(context: FormContext, verb: 'pause' | 'resume'): Promise<void> {
  const { check, project } = await openCheck(context, 'edit')
  const { deps } = context
  await deps.barrier.pass([check.id])
  await changeState(project.id, check.uuid, deps, verb === 'pause' ? pause : resume)
  deps.announce({ kind: 'check', uuid: check.uuid, projectId: project.id })
  await audit(context, project.organisationId, verb === 'pause' ? 'check.paused' : 'check.resumed', nameOf(check))
  goBack(context, `/checks/${check.uuid}`)
}

async function toggle(context: FormContext): Promise<void> {
  const { check, project } = await openCheck(context, 'edit')
  const channel = field(context.form, 'channel')
  if (!isUuid(channel)) throw new ValidationError('Which integration?')
  await toggleAssignment(context.deps.db, check.id, project.id, channel)
  await audit(context, project.organisationId, 'check.integrations-changed', nameOf(check))
  goBack(context, `/checks/${check.uuid}`)
}

/** A new check with the same settings and integrations; its pings and its addresses are its own. */
async function copy(context: FormContext): Promise<void> {
  const { check, project } = await openCheck(context, 'edit')
  const { deps } = context
  const limit = project.checkLimit ?? deps.config.checkLimit
  const made = await transaction(deps.db, async (tx) => {
    await lockProject(tx, project.id)
    if ((await countChecks(tx, project.id)) >= limit) return null
    const copied = await insertCheck(tx, project.id, {
      ...settingsOf(check),
      name: `${check.name} (copy)`.slice(0, 100),
      // Two checks with one slug could not be told apart by it.
      slug: check.slug === '' ? '' : `${check.slug.slice(0, 95)}-copy`,
    })
    await assignChannels(tx, copied, check.channelIds)
    return copied
  })
  if (!made) throw new ForbiddenError('The project has as many checks as it may.')
  deps.announce({ kind: 'check', uuid: made.uuid, projectId: project.id })
  await audit(context, project.organisationId, 'check.copied', nameOf(check))
  redirect(context, `/checks/${made.uuid}?done=check-copied`)
}

function settingsOf(check: AssignedCheck) {
  return {
    tags: check.tags,
    desc: check.desc,
    kind: check.kind,
    timeoutSeconds: check.timeoutSeconds,
    graceSeconds: check.graceSeconds,
    schedule: check.schedule,
    tz: check.tz,
    manualResume: check.manualResume,
    methods: check.methods,
    startKw: check.startKw,
    successKw: check.successKw,
    failureKw: check.failureKw,
    filterSubject: check.filterSubject,
    filterBody: check.filterBody,
    filterHttpBody: check.filterHttpBody,
    filterDefaultFail: check.filterDefaultFail,
  }
}

/** Takes the right to manage on both sides: what leaves a project is lost to its people. */
async function transfer(context: FormContext): Promise<void> {
  const { check, project, projects, session } = await openCheck(context, 'manage')
  const { deps, form } = context
  const target = projects.find(({ uuid }) => uuid === field(form, 'project'))
  if (!target) throw new NotFoundError('There is no such project, or it is not one of yours.')
  if (!may(target.role, 'manage')) return await deny(context, session, target.organisationId)
  const limit = target.checkLimit ?? deps.config.checkLimit
  await transaction(deps.db, async (tx) => {
    await lockProject(tx, target.id)
    if ((await countChecks(tx, target.id)) >= limit) {
      throw new ConflictError('That project has as many checks as it may.')
    }
    const locked = await lockCheck(tx, project.id, check.uuid)
    if (!locked) throw new NotFoundError('The check is gone.')
    await moveCheck(tx, locked.id, target.id)
  })
  deps.announce({ kind: 'check', uuid: check.uuid, projectId: project.id })
  deps.announce({ kind: 'check', uuid: check.uuid, projectId: target.id })
  await audit(context, project.organisationId, 'check.transferred', `${nameOf(check)} to ${target.name}`)
  if (target.organisationId !== project.organisationId) {
    await audit(context, target.organisationId, 'check.received', `${nameOf(check)} from ${project.name}`)
  }
  redirect(context, `/checks/${check.uuid}?done=check-transferred`)
}

async function remove(context: FormContext): Promise<void> {
  const { check, project } = await openCheck(context, 'edit')
  await removeCheck(project.id, check.uuid, context.deps)
  context.deps.announce({ kind: 'check', uuid: check.uuid, projectId: project.id })
  await audit(context, project.organisationId, 'check.deleted', nameOf(check))
  redirect(context, `/projects/${project.uuid}/checks?done=check-deleted`)
}

/** Does the same to all selected checks; those that vanished meanwhile are passed over. */
async function bulk(context: FormContext): Promise<void> {
  const { project } = await openProject(context, 'edit')
  const { deps, form } = context
  const verb = field(form, 'do')
  const uuids = [...new Set(form.getAll('check').filter(isUuid))].slice(0, 100)
  const tag = field(form, 'tag').replace(/\s+/g, '-')
  for (const uuid of uuids) {
    const check = await findCheck(deps.db, uuid)
    if (check?.projectId !== project.id) continue
    if (verb === 'pause' || verb === 'resume') {
      await deps.barrier.pass([check.id])
      await changeState(project.id, uuid, deps, verb === 'pause' ? pause : resume)
    } else if (verb === 'delete') await removeCheck(project.id, uuid, deps)
    else if (verb === 'tag' && tag !== '' && !splitTags(check.tags).includes(tag)) {
      const body = Object.assign(Object.create(null), { tags: `${check.tags} ${tag}`.trim() })
      await updateCheck({ key: asWriter(project), body, id: check.id, uuid }, 3, context.response, deps)
    }
    deps.announce({ kind: 'check', uuid, projectId: project.id })
    await audit(context, project.organisationId, `check.${BULK_NOTES[verb] ?? 'seen'}`, nameOf(check))
  }
  goBack(context, `/projects/${project.uuid}/checks`)
}

const BULK_NOTES: Readonly<Record<string, string>> = {
  pause: 'paused',
  resume: 'resumed',
  delete: 'deleted',
  tag: 'changed',
}
