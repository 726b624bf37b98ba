import { checkValue } from '#shared/validation.ts'
import type { NewEndpoint } from '#shared/webhooks/endpoint-store.ts'
import { NewEndpointBody } from '#shared/webhooks/requests.ts'
import type { FieldErrors, FormItem } from '../forms/fields.tsx'
import { EditForm } from '../forms/form.tsx'
import { CheckBox } from '../forms/inputs.tsx'
import { type Context, field } from '../shell/context.ts'
import { eventGroups, eventName } from './event-names.ts'

export interface EndpointFormState {
  url: string
  description: string
  /** filters as the API accepts them */
  eventTypes: readonly string[]
  isForAllEvents: boolean
  ordered: boolean
  /** by field name */
  errors: FieldErrors
}

type EndpointFields = Pick<NewEndpoint, 'url' | 'description' | 'eventTypes' | 'ordered'>

export function formOf(endpoint: Omit<EndpointFormState, 'isForAllEvents' | 'errors'>): EndpointFormState {
  return { ...endpoint, isForAllEvents: endpoint.eventTypes.includes('*'), errors: new Map() }
}

/**
 * Returns the parsed form, or null beside the submitted values with their errors.
 * @param known current filters of the endpoint
 */
export function readEndpoint(
  form: URLSearchParams,
  known: readonly string[],
): { state: EndpointFormState; endpoint: EndpointFields | null } {
  // A box for a group with several prefixes contains several filters.
  const chosen = form.getAll('eventTypes').flatMap((text) => text.split(/[\s,]+/).filter((filter) => filter !== ''))
  const isForAllEvents = field(form, 'events') === 'all' || chosen.includes('*')
  const typed = {
    url: field(form, 'url'),
    description: field(form, 'description'),
    eventTypes: filtersOf(chosen, isForAllEvents, known),
    ordered: form.has('ordered'),
  }
  const state = { ...typed, eventTypes: chosen, isForAllEvents }
  const read = checkValue(NewEndpointBody, typed)
  const errors = new Map(
    read.ok ? [] : read.faults.map(({ path, problem }) => [path.replace(/\[.*/, ''), sentence(problem)]),
  )
  if (typed.eventTypes.length === 0) errors.set('eventTypes', 'Select at least one event, or choose all events.')
  if (!read.ok || errors.size > 0) return { state: { ...state, errors }, endpoint: null }
  return { state: { ...state, errors }, endpoint: read.value }
}

export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** Keeps the known filters if they mean the same. Otherwise omits the types that a chosen group includes. */
function filtersOf(chosen: readonly string[], isForAllEvents: boolean, known: readonly string[]): string[] {
  if (isForAllEvents) return known.includes('*') ? [...known] : ['*']
  const filters = new Set(chosen)
  if (known.length === filters.size && known.every((filter) => filters.has(filter))) return [...known]
  return [...filters].filter(
    (filter) => filter.endsWith('.*') || !filters.has(`${filter.slice(0, filter.indexOf('.'))}.*`),
  )
}

export function EndpointForm(props: {
  context: Context
  action: string
  state: EndpointFormState
  submit: string
  cancel: string
}) {
  const { state, ...form } = props
  const { errors, ordered, url, description, isForAllEvents } = state
  return (
    <EditForm
      {...form}
      items={itemsOf(state)}
      values={{ url, description, events: isForAllEvents ? 'all' : 'selected', ordered: ordered ? 'on' : '' }}
      errors={errors}
    />
  )
}

function itemsOf(state: EndpointFormState): FormItem[] {
  return [
    {
      legend: 'Where to send events',
      items: [
        {
          name: 'url',
          label: 'URL',
          placeholder: 'https://example.com/webhooks',
          hint: 'Public, with https. Redirects are not followed.',
          maxLength: 2000,
          isRequired: true,
        },
        {
          name: 'description',
          label: 'Description (optional)',
          maxLength: 200,
          placeholder: 'Loan system',
        },
      ],
    },
    {
      legend: 'Which events',
      class: 'event-choice',
      items: [
        {
          name: 'events',
          label: 'Events to send',
          kind: 'segments',
          options: [
            { value: 'all', label: 'All events' },
            { value: 'selected', label: 'Only selected events' },
          ],
          hint: 'All events include types that are added later.',
        },
        { content: <EventGroups state={state} /> },
      ],
    },
    {
      summary: 'Order of deliveries',
      isOpen: state.ordered,
      items: [
        {
          name: 'ordered',
          label: 'Send the events of a deal in order',
          kind: 'check',
          hint: 'One delivery at a time for each deal. A failing delivery delays the later ones of the same deal.',
        },
      ],
    },
  ]
}

/** Hidden by CSS while all events are chosen. */
function EventGroups({ state: { eventTypes, errors } }: { state: EndpointFormState }) {
  const error = errors.get('eventTypes')
  const chosen = new Set(eventTypes)
  return (
    <div class="event-groups">
      {error !== undefined && (
        <p class="field-error" id="eventTypes-error" role="alert">
          {error}
        </p>
      )}
      {eventGroups(eventTypes).map(({ name, filters, types }) => {
        const hasAll = filters.every((filter) => chosen.has(filter))
        // Part of the prefixes of the group: each keeps a box.
        const parts = hasAll ? [] : filters.filter((filter) => chosen.has(filter))
        return (
          <fieldset key={name} class="plain-choices">
            <legend>{name}</legend>
            <EventBox
              value={filters.join(',')}
              label="All of these, and types added later"
              code={filters.join(', ')}
              isChecked={hasAll}
            />
            {parts.map((filter) => (
              <EventBox
                key={filter}
                value={filter}
                label={`All of ${filter.slice(0, -2)}, and types added later`}
                code={filter}
                isChecked
              />
            ))}
            {types.map((type) => (
              <EventBox key={type} value={type} label={eventName(type)} code={type} isChecked={chosen.has(type)} />
            ))}
          </fieldset>
        )
      })}
    </div>
  )
}

function EventBox({ code, ...box }: { value: string; label: string; code: string; isChecked: boolean }) {
  return <CheckBox name="eventTypes" hint={<code>{code}</code>} {...box} />
}
