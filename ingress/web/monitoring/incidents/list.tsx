import { durationOf, type LastNotification } from '#shared/monitoring/alerting/incident-list.ts'
import type { ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import type { Micros } from '#shared/time.ts'
import { Form } from '../../forms/form.tsx'
import type { Column } from '../../lists/list.tsx'
import { Ago, Distance } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { humanDuration } from '../../shell/format.ts'
import { FILTER_NAMES, type ListQuery, listAddress, SINCE, TABS } from './list-query.ts'
import { type loadNextNotificationFacts, NextNotificationText } from './next-notification.tsx'
import { quietReason, StatePill, whoOf } from './state.tsx'

/** More incidents are counted as `1,000+`. */
export const MAX_COUNTED = 1_000

export function Tabs(props: { path: string; query: ListQuery; counts: Readonly<Record<string, number>> }) {
  const { path, query, counts } = props
  return (
    <ul class="tabs" aria-label="State">
      {TABS.map(({ id, label }) => {
        const count = counts[id] ?? 0
        return (
          <li key={id}>
            <a href={listAddress(path, { ...query, tab: id })} aria-current={query.tab === id ? 'page' : undefined}>
              {label}{' '}
              <b class="figure">
                {Math.min(count, MAX_COUNTED).toLocaleString('en')}
                {count > MAX_COUNTED && '+'}
              </b>
            </a>
          </li>
        )
      })}
    </ul>
  )
}

interface FilterProps {
  path: string
  query: ListQuery
  policies: readonly { uuid: string; name: string }[]
  people: readonly Person[]
}

interface Person {
  email: string
  /** may be empty */
  name: string
}

export function IncidentFilters({ path, query, policies, people }: FilterProps) {
  const isFiltered = FILTER_NAMES.some((name) => query[name] !== '')
  return (
    <form class="search incident-filters" method="get" action={path}>
      {query.tab !== 'open' && <input type="hidden" name="tab" value={query.tab} />}
      <label class="hidden" for="q">
        Name of the check
      </label>
      <input id="q" name="q" type="search" value={query.q} placeholder="Search" maxLength={100} />
      <label class="hidden" for="tag">
        Tag
      </label>
      <input id="tag" name="tag" value={query.tag} placeholder="Tag" maxLength={100} />
      <Choice
        name="severity"
        label="Severity"
        any="Any severity"
        query={query}
        options={['critical', 'warning', 'info'].map((value) => ({ value, label: value }))}
      />
      <Choice
        name="policy"
        label="Policy"
        any="Any policy"
        query={query}
        options={policies.map(({ uuid, name }) => ({ value: uuid, label: name }))}
      />
      <Choice
        name="person"
        label="Person"
        any="Any person"
        query={query}
        options={people.map(({ email, name }) => ({ value: email, label: name || email }))}
      />
      <Choice name="since" label="Began" any="Any time" query={query} options={SINCE} />
      <button type="submit">Filter</button>
      {isFiltered && <a href={listAddress(path, { tab: query.tab })}>Clear filters</a>}
    </form>
  )
}

function Choice(props: {
  name: (typeof FILTER_NAMES)[number]
  label: string
  any: string
  query: ListQuery
  options: readonly { value: string; label: string }[]
}) {
  const { name, label, any, query, options } = props
  if (options.length === 0) return null
  return (
    <>
      <label class="hidden" for={name}>
        {label}
      </label>
      <select id={name} name={name} data-submit>
        <option value="">{any}</option>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={query[name] === option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </>
  )
}

/** One form for the buttons of all rows, each with its own address. */
export function RowForm({ context, path }: { context: Context; path: string }) {
  return (
    <Form context={context} id="incident-form" action={`${path}/ack`}>
      <input type="hidden" name="back" value={context.request.originalUrl} />
    </Form>
  )
}

export function BulkBar({ context, path }: { context: Context; path: string }) {
  return (
    <Form context={context} action={`${path}/ack`} class="bulk" id="bulk-form">
      <input type="hidden" name="back" value={context.request.originalUrl} />
      <b class="bulk-label">With those selected</b>
      <span class="bulk-buttons">
        <label class="hidden" for="bulk-note">
          Note
        </label>
        <input id="bulk-note" name="note" placeholder="note" maxLength={2000} autocomplete="off" />
        <button type="submit" class="primary">
          Acknowledge
        </button>
      </span>
    </Form>
  )
}

export interface RowContext {
  comingOf: Awaited<ReturnType<typeof loadNextNotificationFacts>>
  last: ReadonlyMap<string, LastNotification>
  people: readonly Person[]
  /** rows can be selected */
  canSelect: boolean
  /** rows have buttons and a next notification */
  isOpen: boolean
  mayRespond: boolean
  now: Micros
}

const nameOf = ({ name }: ShownIncident) => name || 'A check without a name'

export function incidentColumns(row: RowContext): Column<ShownIncident>[] {
  const { comingOf, last, people, canSelect, isOpen, mayRespond, now } = row
  const selection: Column<ShownIncident> = {
    title: 'Selection',
    isTitleHidden: true,
    variant: 'i-select',
    cell: (incident) =>
      canAcknowledge(incident) && (
        <input
          type="checkbox"
          name="incident"
          value={incident.id}
          form="bulk-form"
          aria-label={`Select ${nameOf(incident)}`}
        />
      ),
  }
  const coming: Column<ShownIncident> = {
    title: 'Next notification',
    variant: 'i-next',
    cell: (incident) => <NextNotificationText incident={incident} {...comingOf(incident, null)} now={now} isShort />,
  }
  const actions: Column<ShownIncident> = {
    title: 'Actions',
    isTitleHidden: true,
    variant: 'i-actions',
    cell: (incident) => <RowActions incident={incident} />,
  }
  return [
    ...(canSelect ? [selection] : []),
    { title: 'State', variant: 'i-state', cell: (incident) => <StatePill incident={incident} /> },
    {
      title: 'Check',
      variant: 'i-check',
      cell: (incident) => (
        <>
          <a href={`/incidents/${incident.id}`}>{nameOf(incident)}</a>
          <span class="why">
            {incident.severity !== 'critical' && ` · ${incident.severity}`}
            {quietReason(incident) !== '' && ` · ${quietReason(incident)}`}
          </span>
        </>
      ),
    },
    { title: 'Duration', variant: 'i-time', cell: (incident) => <Duration incident={incident} now={now} /> },
    {
      title: 'Who',
      variant: 'i-who breakable',
      hint: whoOf,
      cell: (incident) => nameOfPerson(whoOf(incident), people) || <span class="muted">–</span>,
    },
    {
      title: 'Last notification',
      variant: 'i-last',
      cell: ({ id }) => <Last notification={last.get(id)} now={now} />,
    },
    ...(isOpen ? [coming] : []),
    ...(isOpen && mayRespond ? [actions] : []),
  ]
}

/** Returns the name of a member instead of the address; other text unchanged. */
function nameOfPerson(who: string, people: readonly Person[]): string {
  return people.find(({ email }) => email === who)?.name || who
}

export const canAcknowledge = ({ state }: ShownIncident) => state === 'waiting' || state === 'alerting'

function Duration({ incident, now }: { incident: ShownIncident; now: Micros }) {
  if (incident.resolvedAt === null) return <Distance at={incident.downAt} now={now} units={2} />
  return (
    <>
      {humanDuration(durationOf(incident, now))}
      <span class="why">
        {' · '}
        <Ago at={incident.downAt} now={now} />
      </span>
    </>
  )
}

const RESULTS = { pending: 'being sent', delivered: 'delivered', failed: 'failed', suppressed: 'not sent' } as const

function Last({ notification, now }: { notification: LastNotification | undefined; now: Micros }) {
  if (!notification) return <span class="muted">–</span>
  const { name, state, error, at } = notification
  return (
    <span class={state === 'failed' ? 'state is-down' : undefined} title={error || undefined}>
      {`${name}: `}
      <b>{RESULTS[state]}</b> <Ago at={at} now={now} />
    </span>
  )
}

function RowActions({ incident }: { incident: ShownIncident }) {
  const { id } = incident
  const name = nameOf(incident)
  const button = (verb: string) =>
    ({ type: 'submit', form: 'incident-form', formAction: `/incidents/${id}/${verb}` }) as const
  return (
    <div class="row">
      {canAcknowledge(incident) && (
        <button {...button('ack')} aria-label={`Acknowledge ${name}`}>
          Acknowledge
        </button>
      )}
      <button {...button('take')} class="quiet" aria-label={`Take ${name}`}>
        Take
      </button>
      <button {...button('ack')} class="quiet" name="for" value="3600" aria-label={`Mute 1 h: ${name}`}>
        Mute 1 h
      </button>
    </div>
  )
}
