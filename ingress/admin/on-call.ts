import { scheduleView } from '#shared/monitoring/on-call/read-schedule.ts'
import { findSchedule, listSchedules } from '#shared/monitoring/on-call/schedule-store.ts'
import { loadCurrent } from '#shared/monitoring/operations/on-call-reads.ts'
import { nowMicros, toIsoSeconds } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { type Command, textOf, UsageError } from './command.ts'
import { requireProject } from './project.ts'

const projectOption = { description: 'id of the project', value: 'ID', required: true } as const

const listOnCall: Command = {
  noun: 'on-call',
  verb: 'list',
  summary: 'List the persons who are on call for a project',
  options: { project: projectOption },
  async run(given, context) {
    const project = await requireProject(textOf(given, 'project'), context)
    const now = nowMicros()
    const found = await loadCurrent(context.db, await listSchedules(context.db, project), { at: now, now })
    const rows = found.map(({ facts, current, next, isEndless }) => ({
      schedule: facts.schedule.uuid,
      name: facts.schedule.name,
      person: current?.person ?? null,
      until: current && !isEndless ? toIsoSeconds(current.until) : null,
      next: next?.person ?? null,
    }))
    const text = rows.map(
      ({ name, person, until, next }) =>
        `${name}  ${person ?? 'no person'}  until ${until ?? '-'}  next ${next ?? '-'}`,
    )
    return { json: { on_call: rows }, text: text.join('\n') || 'none' }
  },
}

const listAll: Command = {
  noun: 'schedule',
  verb: 'list',
  summary: 'List the on-call schedules of a project',
  options: { project: projectOption },
  async run(given, context) {
    const project = await requireProject(textOf(given, 'project'), context)
    const own = (await listSchedules(context.db, project)).filter(({ projectId }) => projectId === project.id)
    const rows = own.map(({ uuid, name, tz, layers }) => ({ id: uuid, name, tz, layers: layers.length }))
    const text = rows.map(({ id, name, tz, layers }) => `${id}  ${name}  ${tz}  ${layers} layers`)
    return { json: { schedules: rows }, text: text.join('\n') || 'none' }
  },
}

const show: Command = {
  noun: 'schedule',
  verb: 'show',
  summary: 'Show an on-call schedule in the form that the API accepts',
  options: { project: projectOption, schedule: { description: 'id of the schedule', value: 'ID', required: true } },
  async run(given, context) {
    const project = await requireProject(textOf(given, 'project'), context)
    const uuid = textOf(given, 'schedule')
    const schedule = isUuid(uuid) ? await findSchedule(context.db, project.id, uuid) : null
    if (!schedule) throw new UsageError(`the project has no schedule ${uuid}`)
    const shown = scheduleView(schedule)
    return { json: shown, text: JSON.stringify(shown, null, 2) }
  },
}

export const onCallCommands: readonly Command[] = [listOnCall, listAll, show]
