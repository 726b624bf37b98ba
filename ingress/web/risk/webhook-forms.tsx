import type { Endpoint } from '#shared/webhooks/endpoint.ts'
import { OFFERED_EVENTS } from '#shared/webhooks/event-types.ts'
import { CheckBox, Copyable, Form } from '../components/form.tsx'
import type { FieldErrors, FormItem } from '../forms/fields.tsx'
import { ButtonForm, EditForm } from '../forms/form.tsx'
import type { Context } from '../shell/context.ts'

/** The form of an endpoint, as it was typed. */
export interface EndpointFormState {
  url: string
  description: string
  /** filters, one a line */
  eventTypes: string
  ordered: boolean
  /** by the names of fields */
  errors: FieldErrors
}

const ITEMS: readonly FormItem[] = [
  {
    legend: 'Where events go',
    items: [
      {
        name: 'url',
        label: 'URL',
        placeholder: 'https://example.com/webhooks',
        maxLength: 2000,
        isRequired: true,
      },
      { name: 'description', label: 'Description', maxLength: 200, placeholder: 'Loan system' },
    ],
  },
  {
    legend: 'Which events',
    items: [
      {
        name: 'eventTypes',
        label: 'Filters',
        kind: 'lines',
        rows: 3,
        isMono: true,
        hint: 'One a line: * for all, risk_signals.* for a group, or one of the types below.',
      },
      {
        content: (
          <details>
            <summary>Types of events</summary>
            <p class="muted breakable">{OFFERED_EVENTS.join(', ')}</p>
          </details>
        ),
      },
      {
        name: 'ordered',
        label: 'In order per deal',
        kind: 'check',
        hint: 'One delivery at a time for each deal, in the order of its events.',
      },
    ],
  },
]

export function EndpointForm(props: {
  context: Context
  action: string
  state: EndpointFormState
  submit: string
  cancel: string
}) {
  const { state, ...form } = props
  const { errors, ordered, url, description, eventTypes } = state
  return (
    <EditForm
      {...form}
      items={ITEMS}
      values={{ url, description, eventTypes, ordered: ordered ? 'on' : '' }}
      errors={errors}
    />
  )
}

/** The actions on an existing endpoint. */
export function EndpointActions({ context, endpoint, path }: { context: Context; endpoint: Endpoint; path: string }) {
  const isActive = endpoint.state === 'ACTIVE'
  return (
    <div class="row endpoint-actions">
      {isActive ? (
        <>
          <ButtonForm context={context} action={`${path}/test`} label="Send a test" look="primary" />
          <ButtonForm context={context} action={`${path}/disable`} label="Disable" />
        </>
      ) : (
        <Form context={context} action={`${path}/enable`} class="row">
          <button type="submit" class="primary">
            Enable
          </button>
          <CheckBox name="release" isChecked={false} label="and send the events that were held back" />
        </Form>
      )}
      <a class="button" href={`${path}/edit`}>
        Edit
      </a>
      <ButtonForm
        context={context}
        action={`${path}/rotate`}
        confirm={`Make a new signing secret for ${endpoint.url}? The old one stays valid for another day.`}
        yes="Rotate"
        label="Rotate the secret"
      />
      <ButtonForm
        context={context}
        action={`${path}/delete`}
        confirm={`Delete ${endpoint.url}? Its pending deliveries are cancelled, and its secret is lost.`}
        yes="Delete endpoint"
        label="Delete"
        look="danger"
      />
    </div>
  )
}

/** A new signing secret, shown once. */
export function NewSecret({ secret }: { secret: string }) {
  return (
    <section class="card secret-once" role="status" aria-label="Signing secret">
      <p>
        The signing secret. It is <b>not shown again</b>: copy it now.
      </p>
      <p class="ping-url">
        <Copyable text={secret} label="signing secret" />
      </p>
    </section>
  )
}
