import { HORIZON } from '#shared/monitoring/on-call/on-call.ts'
import { overridesOf } from '#shared/monitoring/on-call/override-store.ts'
import { scheduleView } from '#shared/monitoring/on-call/read-schedule.ts'
import { listSchedules, type StoredSchedule } from '#shared/monitoring/on-call/schedule-store.ts'
import { type CurrentShift, loadCurrent } from '#shared/monitoring/operations/on-call-reads.ts'
import { type Micros, microsOfDate, nowMicros, toIsoSeconds } from '#shared/time.ts'
import { type AdminContext, type Command, lines, type Options, textOf, UsageError } from './command.ts'
import { requireProject } from './project.ts'

const projectOption = { description: 'id of the project', value: 'ID', required: true } as const
const scheduleOption = { description: 'id of the schedule, from schedule list', value: 'ID', required: true } as const

const listOnCall: Command = {
  noun: 'on-call',
  verb: 'list',
  summary: 'List the persons who are on call for a project',
  options: { project: projectOption },
  async run(given, context) {
    const project = await requireProject(textOf(given, 'project'), context)
    const now = nowMicros()
    const found = await loadCurrent(context.db, await listSchedules(context.db, project), { at: now, now })
    const rows = found.map(rowOf)
    const text = rows.map(
      ({ name, person, until, next }) =>
        `${name}  ${person ?? 'no person'}  until ${until ?? '-'}  next ${next ?? '-'}`,
    )
    return { json: { on_call: rows }, text: text.join('\n') || 'none' }
  },
}

const showOnCall: Command = {
  noun: 'on-call',
  verb: 'show',
  summary: 'Show who is on call for a schedule, now or at another time, and who is next',
  options: {
    project: projectOption,
    schedule: scheduleOption,
    at: { description: 'time such as 2026-12-24T18:00Z; default: now', value: 'TIME' },
  },
  async run(given, context) {
    const schedule = await scheduleNamed(given, context)
    const now = nowMicros()
    const at = given.at === undefined ? now : timeOf(textOf(given, 'at'), now)
    const [current] = await loadCurrent(context.db, [schedule], { at, now })
    if (!current) throw new Error('the shifts of a schedule are found')
    const shown = { at: toIsoSeconds(at), ...rowOf(current) }
    return { json: shown, text: lines({ ...shown, person: shown.person ?? 'no person' }) }
  },
}

function rowOf({ facts, current, next, isEndless }: CurrentShift) {
  return {
    schedule: facts.schedule.uuid,
    name: facts.schedule.name,
    person: current?.person ?? null,
    until: current && !isEndless ? toIsoSeconds(current.until) : null,
    next: next?.person ?? null,
  }
}

/** As the API: at most 400 days away. @throws UsageError */
function timeOf(text: string, now: Micros): Micros {
  const at = microsOfDate(new Date(text))
  if (Number.isNaN(at)) throw new UsageError('--at must be a time such as 2026-12-24T18:00Z')
  if (Math.abs(at - now) > HORIZON) throw new UsageError('--at must be at most 400 days from now')
  return at
}

const listAll: Command = {
  noun: 'schedule',
  verb: 'list',
  summary: 'List the on-call schedules of a project',
  options: { project: projectOption },
  async run(given, context) {
    const rows = (await ownSchedules(given, context)).map(({ uuid, name, tz, layers }) => {
      return { id: uuid, name, tz, layers: layers.length }
    })
    const text = rows.map(({ id, name, tz, layers }) => `${id}  ${name}  ${tz}  ${layers} layers`)
    return { json: { schedules: rows }, text: text.join('\n') || 'none' }
  },
}

const show: Command = {
  noun: 'schedule',
  verb: 'show',
  summary: 'Show an on-call schedule in the form that the API accepts',
  options: { project: projectOption, schedule: scheduleOption },
  async run(given, context) {
    const shown = scheduleView(await scheduleNamed(given, context))
    return { json: shown, text: JSON.stringify(shown, null, 2) }
  },
}

const exportAll: Command = {
  noun: 'schedule',
  verb: 'export',
  summary: 'Print the on-call schedules of a project as JSON, with overrides that have not ended',
  options: { project: projectOption },
  async run(given, context) {
    const own = await ownSchedules(given, context)
    const ids = own.map(({ id }) => id)
    const overrides = await overridesOf(context.db, ids, nowMicros())
    const schedules = own.map((schedule) => ({
      ...scheduleView(schedule),
      overrides: overrides
        .filter(({ scheduleId }) => scheduleId === schedule.id)
        .map(({ person, replaces, start, end, note }) => {
          return { person, replaces, start: toIsoSeconds(start), end: toIsoSeconds(end), note }
        }),
    }))
    return { json: { schedules }, text: JSON.stringify({ schedules }, null, 2) }
  },
}

/** Omits shared schedules of other projects. */
async function ownSchedules(given: Options, context: AdminContext): Promise<StoredSchedule[]> {
  const project = await requireProject(textOf(given, 'project'), context)
  return (await listSchedules(context.db, project)).filter(({ projectId }) => projectId === project.id)
}

/** @throws UsageError */
async function scheduleNamed(given: Options, context: AdminContext): Promise<StoredSchedule> {
  const uuid = textOf(given, 'schedule').toLowerCase()
  const schedule = (await ownSchedules(given, context)).find((own) => own.uuid === uuid)
  if (!schedule) throw new UsageError(`the project has no schedule ${uuid}; schedule list shows all`)
  return schedule
}

export const onCallCommands: readonly Command[] = [listOnCall, showOnCall, listAll, show, exportAll]
