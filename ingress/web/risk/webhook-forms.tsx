import type { Endpoint } from '#shared/webhooks/endpoint.ts'
import { OFFERED_EVENTS } from '#shared/webhooks/event-types.ts'
import { CheckBox, Copyable, Form, TextArea, TextField } from '../components/form.tsx'
import { Problem } from '../components/notice.tsx'
import type { Context } from '../shell/context.ts'

/** What the form of an endpoint shows: texts as they were typed. */
export interface EndpointFormState {
  url: string
  description: string
  /** filters, one a line */
  eventTypes: string
  ordered: boolean
  /** what is wrong, by the name of its field */
  errors: Readonly<Record<string, string>>
}

export function EndpointForm(props: {
  context: Context
  action: string
  state: EndpointFormState
  submit: string
  cancel: string
}) {
  const { state, context } = props
  return (
    <Form context={context} action={props.action} class="stack check-form">
      {Object.keys(state.errors).length > 0 && <Problem text="Something below is not right yet." />}
      <fieldset>
        <legend>Where events go</legend>
        <TextField
          label="Address"
          name="url"
          value={state.url}
          error={state.errors.url}
          placeholder="https://example.com/webhooks"
          maxLength={2000}
          required
        />
        <TextField
          label="Description"
          name="description"
          value={state.description}
          error={state.errors.description}
          maxLength={200}
          placeholder="Loan system"
        />
      </fieldset>
      <fieldset>
        <legend>Which events</legend>
        <TextArea
          label="Filters"
          name="eventTypes"
          value={state.eventTypes}
          error={state.errors.eventTypes}
          rows={3}
          isMono
          hint="One a line: * for all, risk_signals.* for a group, or one of the types below."
        />
        <details>
          <summary>Types of events</summary>
          <p class="muted breakable">{OFFERED_EVENTS.join(', ')}</p>
        </details>
        <CheckBox
          name="ordered"
          isChecked={state.ordered}
          label="In order per deal"
          hint="One delivery at a time for each deal, in the order of its events."
        />
      </fieldset>
      <div class="form-foot">
        <button type="submit" class="primary">
          {props.submit}
        </button>
        <a class="button" href={props.cancel}>
          Cancel
        </a>
      </div>
    </Form>
  )
}

/** What may be done with an endpoint that exists. */
export function EndpointActions({ context, endpoint, path }: { context: Context; endpoint: Endpoint; path: string }) {
  const isActive = endpoint.state === 'ACTIVE'
  return (
    <div class="row endpoint-actions">
      {isActive ? (
        <>
          <Form context={context} action={`${path}/test`}>
            <button type="submit" class="primary">
              Send a test
            </button>
          </Form>
          <Form context={context} action={`${path}/disable`}>
            <button type="submit">Disable</button>
          </Form>
        </>
      ) : (
        <Form context={context} action={`${path}/enable`} class="row">
          <button type="submit" class="primary">
            Enable
          </button>
          <CheckBox name="release" isChecked={false} label="and send what was kept meanwhile" />
        </Form>
      )}
      <a class="button" href={`${path}/edit`}>
        Edit
      </a>
      <Form
        context={context}
        action={`${path}/rotate`}
        confirm={`Make a new signing secret for ${endpoint.url}? The old one signs beside it for a day, and then no more.`}
        yes="Rotate"
      >
        <button type="submit">Rotate the secret</button>
      </Form>
      <Form
        context={context}
        action={`${path}/delete`}
        confirm={`Delete ${endpoint.url}? What it is still owed is cancelled, and its secret is lost.`}
        yes="Delete endpoint"
      >
        <button type="submit" class="danger">
          Delete
        </button>
      </Form>
    </div>
  )
}

/** A signing secret, this once. */
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
