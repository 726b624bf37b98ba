import type { JsonObject, JsonValue } from '#shared/monitoring/checks/json-body.ts'
import { daysText, hoursText, readDaysText, readHoursText } from '#shared/monitoring/on-call/hours-text.ts'
import type { Layer, ScheduleFields } from '#shared/monitoring/on-call/schedule.ts'
import { field } from '../../shell/context.ts'

/** Values by field name, which is the path in the API's errors. Lists are texts with one line per element. */
export interface ScheduleFormState {
  values: Readonly<Record<string, string>>
  layers: number
}

export const MAX_LAYERS = 10

const TEXTS = ['name', 'tz', 'holidays', 'fallback', 'coverage', 'coverage_hours', 'effective']
const FLAGS = ['shared', 'show_names', 'gaps']
/** ids, separated by commas */
export const INTEGRATIONS = 'notices.channels'
const LAYER_TEXTS = ['name', 'people', 'start', 'end', 'rotation.unit', 'rotation.every', 'rotation.on', 'hours']

export function stateOfSchedule(schedule: ScheduleFields): ScheduleFormState {
  const { name, tz, holidays, layers, fallback, coverage, notices } = schedule
  const integrations = notices.channels?.join(',') ?? ''
  const flags = { shared: schedule.shared, show_names: schedule.show_names, gaps: notices.gaps }
  return {
    values: {
      name,
      tz,
      holidays: holidays.join('\n'),
      fallback: fallback ?? '',
      coverage: typeof coverage === 'string' ? coverage : 'hours',
      coverage_hours: typeof coverage === 'string' ? '' : coverage.map(hoursText).join('\n'),
      effective: 'now',
      [INTEGRATIONS]: integrations,
      ...Object.fromEntries(Object.entries(flags).map(([flag, isOn]) => [flag, isOn ? 'on' : ''])),
      ...Object.assign({}, ...layers.map(valuesOfLayer)),
    },
    layers: layers.length,
  }
}

function valuesOfLayer(layer: Layer, index: number): Record<string, string> {
  const { name, people, start, end, rotation, hours } = layer
  const path = `layers[${index}]`
  return {
    [`${path}.name`]: name,
    [`${path}.people`]: people.join('\n'),
    [`${path}.start`]: start,
    [`${path}.end`]: end ?? '',
    [`${path}.rotation.unit`]: rotation.unit,
    [`${path}.rotation.every`]: String(rotation.every),
    [`${path}.rotation.on`]: rotation.on ? daysText(rotation.on) : '',
    [`${path}.hours`]: hours.map(hoursText).join('\n'),
  }
}

/** A weekly rotation at 09:00 from a Monday. @param start date `YYYY-MM-DD` */
function newLayer(start: string, people: readonly string[] = []): Layer {
  const rotation = { unit: 'week', every: 1, on: null } as const
  return { name: '', people, start: `${start}T09:00`, end: null, rotation, hours: [] }
}

export function newSchedule(start: string): ScheduleFields {
  const notices = { channels: null, gaps: true }
  const rota = { tz: 'UTC', holidays: [], layers: [newLayer(start)], fallback: null }
  return { ...rota, name: '', shared: false, show_names: false, coverage: 'always', notices }
}

export function stateOfForm(form: URLSearchParams): ScheduleFormState {
  const count = form.get('layers') ?? ''
  const layers = /^\d{1,2}$/.test(count) ? Math.min(MAX_LAYERS, Number(count)) : 0
  const names = [...TEXTS, ...FLAGS]
  for (let index = 0; index < layers; index += 1) names.push(...LAYER_TEXTS.map((name) => `layers[${index}].${name}`))
  const texts = Object.fromEntries(names.map((name) => [name, field(form, name)]))
  for (let index = 0; index < layers; index += 1) {
    const path = `layers[${index}]`
    texts[`${path}.people`] = [...form.getAll(`${path}.people`), field(form, `${path}.add`)].join('\n').trim()
  }
  return { values: { ...texts, [INTEGRATIONS]: form.getAll(INTEGRATIONS).join(',') }, layers }
}

export function withLayer({ values, layers }: ScheduleFormState, start: string): ScheduleFormState {
  if (layers >= MAX_LAYERS) return { values, layers }
  return { values: { ...values, ...valuesOfLayer(newLayer(start), layers) }, layers: layers + 1 }
}

/** Rearranges the layers: the result has those of `order`. */
export function arranged({ values }: ScheduleFormState, order: readonly number[]): ScheduleFormState {
  const others = Object.entries(values).filter(([name]) => !name.startsWith('layers['))
  const moved = order.flatMap((from, to) =>
    LAYER_TEXTS.map((name) => [`layers[${to}].${name}`, values[`layers[${from}].${name}`] ?? '']),
  )
  return { values: Object.fromEntries([...others, ...moved]), layers: order.length }
}

/** Returns the addresses of a layer in the order of their turns. */
export function peopleOf({ values }: ScheduleFormState, layer: number): string[] {
  return linesOf(values[`layers[${layer}].people`] ?? '')
}

/** Removes a person from a layer, or exchanges their turn with the one before. */
export function withPersonMoved(
  state: ScheduleFormState,
  { what, layer, index }: { what: 'up' | 'remove'; layer: number; index: number },
): ScheduleFormState {
  const people = peopleOf(state, layer)
  const [moved] = people.splice(index, 1)
  if (what === 'up' && moved !== undefined) people.splice(Math.max(0, index - 1), 0, moved)
  return { ...state, values: { ...state.values, [`layers[${layer}].people`]: people.join('\n') } }
}

/** Returns a request of the API, which validates it. */
export function bodyOfState({ values, layers }: ScheduleFormState): JsonObject {
  const at = (name: string): string => values[name] ?? ''
  const coverage = at('coverage') === 'hours' ? linesOf(at('coverage_hours')).map(readHoursText) : at('coverage')
  return object({
    name: at('name').trim(),
    tz: at('tz').trim() || null,
    shared: at('shared') === 'on',
    show_names: at('show_names') === 'on',
    holidays: linesOf(at('holidays')),
    layers: Array.from({ length: layers }, (_, index) => bodyOfLayer(values, `layers[${index}]`)),
    coverage: typeof coverage === 'string' ? coverage || null : coverage.map((hours) => object(hours)),
    fallback: at('fallback').trim() || null,
    notices: object({ channels: at(INTEGRATIONS) || null, gaps: at('gaps') === 'on' }),
  })
}

function bodyOfLayer(values: ScheduleFormState['values'], path: string): JsonObject {
  const at = (name: string): string => (values[`${path}.${name}`] ?? '').trim()
  const every = at('rotation.every')
  return object({
    name: at('name'),
    people: linesOf(at('people')),
    start: at('start') || null,
    end: at('end') || null,
    rotation: object({
      unit: at('rotation.unit'),
      every: every === '' ? null : /^\d{1,4}$/.test(every) ? Number(every) : every,
      on: at('rotation.on') === '' ? null : readDaysText(at('rotation.on')),
    }),
    hours: linesOf(at('hours')).map((line) => object(readHoursText(line))),
  })
}

/** Bodies have no prototype. */
function object(members: Record<string, JsonValue>): JsonObject {
  return Object.assign(Object.create(null), members)
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** Returns the API's error by field; '' if no field has it. */
export function errorsOf(message: string): ReadonlyMap<string, string> {
  const [, path = '', text = ''] = /^json validation error: (\S+) (.*)$/.exec(message) ?? []
  if (path === '') return new Map([['', message]])
  const name = path
    .replace(/^(layers\[\d+\]\.(?:people|hours|rotation\.on)|holidays)\[.*$/, '$1')
    .replace(/^coverage\[.*$/, 'coverage_hours')
  const line = /(?:people|hours|holidays|coverage)\[(\d+)\]/.exec(path)?.[1]
  const unit = name.endsWith('.people') ? 'Person' : 'Line'
  const where = line === undefined ? '' : `${unit} ${Number(line) + 1}: `
  return new Map([[name, `${where}${where === '' ? text.charAt(0).toUpperCase() + text.slice(1) : text}.`]])
}
