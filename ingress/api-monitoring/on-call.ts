import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { invalid } from '#shared/monitoring/alerting/fields.ts'
import { CONTACT_KINDS } from '#shared/monitoring/contacts/contact-kinds.ts'
import { listSchedules, type StoredSchedule } from '#shared/monitoring/on-call/schedule-store.ts'
import {
  type CurrentShift,
  loadCurrent,
  loadReport,
  loadShifts,
  type ReportRow,
} from '#shared/monitoring/operations/on-call-reads.ts'
import { loadReach } from '#shared/monitoring/operations/reachable.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import { listMembers } from '#shared/tenancy/accounts/store.ts'
import { type Micros, microsOfSeconds, toIsoSeconds, toSeconds } from '#shared/time.ts'
import type { IngressDeps } from '../deps.ts'
import { queryOf } from '../middleware/form-text.ts'
import type { Route } from '../route.ts'
import { anyKey, read, readWriteKey } from './monitoring-route.ts'
import { instant, json, personSchema, scheduleParam, shiftSchema } from './on-call-schemas.ts'
import { personView, shiftView } from './on-call-views.ts'
import { numberOf } from './operation.ts'

const DAY: Micros = microsOfSeconds(86_400)
const MAX_DISTANCE = 400 * DAY
const MAX_SHIFT_DAYS = 93
const DEFAULT_SHIFT_DAYS = 14
const REPORT_DAYS = 30
const MAX_REPORT_DAYS = 400

const person = personSchema.partial({ address: true }).nullable()
const onCallSchema = z
  .object({
    schedule: z.uuid(),
    name: z.string(),
    covered: z.boolean(),
    person: person.describe('Null: no person, or a read-only key without `show_names`. Read-only keys see no address.'),
    source: z.string().describe('`layer 1`, `override 1`, `fallback` or `none`.'),
    since: instant.nullable(),
    until: instant.nullable().describe('Null if the shift does not end within 400 days.'),
    next: person,
  })
  .meta({ id: 'OnCall' })

const seconds = z.int().min(0)
const reportSchema = z
  .object({
    person: personSchema,
    seconds,
    night: seconds.describe('22:00-06:00 in the zone of the schedule.'),
    weekend: seconds,
    holiday: seconds,
    shifts: z.int().min(0),
    notifications: z.int().min(0).describe('Delivered notifications of incidents of the project.'),
    night_notifications: z.int().min(0).describe('Of these, 22:00-06:00 in the zone of the schedule.'),
    acknowledged: z.int().min(0).describe('Incidents of the project that the person acknowledged on a page.'),
    median_ack_seconds: z.int().nullable(),
  })
  .meta({ id: 'OnCallReport' })

const memberSchema = z
  .object({
    name: z.string(),
    address: z.string(),
    role: z.string(),
    reachable: z.boolean().describe('A usable contact method notifies the person of critical incidents.'),
    kinds: z.array(z.enum(CONTACT_KINDS)).describe('Kinds of the usable contact methods; addresses are never shown.'),
  })
  .meta({ id: 'OnCallMember' })

const timeQuery = (name: string) => z.string().optional().describe(`UNIX timestamp; ${name}.`)
const common = { tags: ['On call'], errors: [400, 404] }

/** Persons who are on call, and their shifts; version 3 only. */
export const onCallRoutes: readonly Route[] = [
  read({
    ...common,
    access: anyKey,
    path: '/api/v3/on-call/',
    operationId: 'getOnCall',
    summary: 'Get the persons who are on call, by schedule',
    params: {},
    query: z.object({ at: timeQuery('default: now; up to 400 days back or ahead') }),
    responses: { 200: { description: 'The persons.', content: json(z.object({ on_call: z.array(onCallSchema) })) } },
    async handle({ key, request, deps }) {
      const now = deps.now()
      const at = instantOf(queryOf(request), 'at') ?? now
      if (Math.abs(at - now) > MAX_DISTANCE) throw invalid('at', 'must be at most 400 days from now')
      const found = await loadCurrent(deps.db, await listSchedules(deps.db, key.project), { at, now })
      return { on_call: found.map((each) => onCallView(each, key.kind === 'ro')) }
    },
  }),
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/on-call/people/',
    operationId: 'listOnCallPeople',
    summary: 'List the persons of the organisation',
    params: {},
    responses: { 200: { description: 'The persons.', content: json(z.object({ people: z.array(memberSchema) })) } },
    async handle({ key, deps }) {
      const members = await listMembers(deps.db, key.project.organisationId)
      const userIds = members.map(({ userId }) => userId)
      const reach = await loadReach(deps.db, userIds, deps)
      return {
        people: members.map(({ userId, name, email, role }) => {
          const { isReachable = false, kinds = [] } = reach.get(userId) ?? {}
          return { name, address: email, role, reachable: isReachable, kinds }
        }),
      }
    },
  }),
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/on-call/schedules/{schedule}/shifts',
    operationId: 'listShifts',
    summary: 'List the shifts of an on-call schedule',
    description: 'Shifts before now are those that were recorded. The last one may be cut at `until`.',
    params: { schedule: scheduleParam },
    query: z.object({
      from: timeQuery('default: now'),
      until: timeQuery('default: 14 days after `from`; at most 93 days after it'),
    }),
    responses: { 200: { description: 'The shifts.', content: json(z.object({ shifts: z.array(shiftSchema) })) } },
    async handle({ key, params, request, deps }) {
      const now = deps.now()
      const span = shiftSpan(queryOf(request), now)
      const schedule = await requireReadableSchedule(deps, key, params.schedule)
      const [found] = await loadShifts(deps.db, [schedule], { ...span, now })
      if (!found) throw new NotFoundError('')
      return { shifts: found.shifts.map((shift) => shiftView(shift, found.facts.people)) }
    },
  }),
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/on-call/schedules/{schedule}/report',
    operationId: 'getOnCallReport',
    summary: 'Get the time that each person was on call, from recorded shifts',
    params: { schedule: scheduleParam },
    query: z.object({
      from: timeQuery('default: 30 days ago'),
      until: timeQuery('default: now; at most 400 days after `from`'),
      format: z.enum(['csv']).optional(),
    }),
    responses: {
      200: {
        description: 'The time of each person.',
        content: { ...json(z.object({ people: z.array(reportSchema) })), 'text/csv': null },
      },
    },
    async handle({ key, params, request, deps }) {
      const now = deps.now()
      const query = queryOf(request)
      if (!query.has('from')) query.set('from', String(Math.floor(toSeconds(now - REPORT_DAYS * DAY))))
      if (!query.has('until')) query.set('until', String(Math.floor(toSeconds(now))))
      const span = shiftSpan(query, now, MAX_REPORT_DAYS)
      const schedule = await requireReadableSchedule(deps, key, params.schedule)
      const people = await loadReport(deps.db, schedule, { ...span, now })
      if (query.get('format') !== 'csv') return { people }
      return async (response) => {
        response.setHeader('Content-Type', 'text/csv; charset=utf-8')
        response.end(reportCsv(people))
      }
    },
  }),
]

/** Returns a schedule of the project, or a shared one of its organisation. @throws NotFoundError */
export async function requireReadableSchedule(
  deps: Pick<IngressDeps, 'db'>,
  key: Pick<ProjectKey, 'project'>,
  uuid: string,
): Promise<StoredSchedule> {
  const schedule = (await listSchedules(deps.db, key.project)).find((one) => one.uuid === uuid)
  if (!schedule) throw new NotFoundError('')
  return schedule
}

/** @throws ValidationError for an empty or too long time */
function shiftSpan(query: URLSearchParams, now: Micros, maxDays = MAX_SHIFT_DAYS): { from: Micros; until: Micros } {
  const from = instantOf(query, 'from') ?? now
  const until = instantOf(query, 'until') ?? from + DEFAULT_SHIFT_DAYS * DAY
  if (until <= from || until - from > maxDays * DAY)
    throw invalid('until', `must be after from, by at most ${maxDays} days`)
  return { from, until }
}

function instantOf(query: URLSearchParams, name: string): Micros | null {
  const seconds = numberOf(query, name, { min: 0, max: 7_000_000_000 })
  return seconds === null ? null : microsOfSeconds(seconds)
}

function onCallView({ facts, current, next, isEndless }: CurrentShift, isReadOnly: boolean) {
  const { uuid, name, show_names: areNamesShown } = facts.schedule
  const shown = (address: string | undefined) => {
    if (address === undefined) return null
    if (!isReadOnly) return personView(address, facts.people)
    return areNamesShown ? { name: personView(address, facts.people).name } : null
  }
  const until = current?.until ?? next?.from ?? null
  return {
    schedule: uuid,
    name,
    covered: current !== null,
    person: shown(current?.person),
    source: current?.source ?? 'none',
    since: current ? toIsoSeconds(current.from) : null,
    until: until === null || isEndless ? null : toIsoSeconds(until),
    next: shown(next?.person),
  }
}

/** A text that begins like a formula is data for a spreadsheet, too. */
export function reportCsv(rows: readonly ReportRow[]): string {
  const quoted = (value: string | number | null) => {
    const text = String(value ?? '')
    return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
  }
  const head = ['name', 'address', ...CSV_COLUMNS]
  const lines = rows.map(({ person, ...row }) => [
    person.name,
    person.address,
    ...CSV_COLUMNS.map((column) => row[column]),
  ])
  return [head, ...lines].map((line) => `${line.map(quoted).join(',')}\r\n`).join('')
}

const CSV_COLUMNS = [
  'seconds',
  'night',
  'weekend',
  'holiday',
  'shifts',
  'notifications',
  'night_notifications',
  'acknowledged',
  'median_ack_seconds',
] as const
