import type { ShownIncident, TimelineRow } from '#shared/monitoring/alerting/incident-page-view.ts'
import { REPORT_TEMPLATE } from '#shared/monitoring/alerting/incident-text.ts'
import type { Check } from '#shared/monitoring/checks/check.ts'
import type { Micros } from '#shared/time.ts'
import { FieldForm, Form } from '../../forms/form.tsx'
import { TextArea } from '../../forms/inputs.tsx'
import { Crumb, Fact } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { type FailureOutput, Output } from '../checks/failure-output.tsx'
import { Actions, Assignee } from './actions.tsx'
import { Cause } from './cause.tsx'
import { Merged, type MergeView } from './merged.tsx'
import { type NextNotificationFacts, NextNotificationText } from './next-notification.tsx'
import { acknowledgedText, StatePill } from './state.tsx'
import { Timeline, type TimelineProps } from './timeline.tsx'

interface Props {
  context: Context
  incident: ShownIncident
  check: Check
  /** last failure that was reported; null without one */
  output: FailureOutput | null
  rows: readonly TimelineRow[]
  timeline: TimelineProps
  /** input of the sentence about the next message */
  coming: NextNotificationFacts
  policy: { name: string; path: string } | null
  checkPath: string
  listPath: string
  simulatorPath: string
  canEscalate: boolean
  /** page of notes on the public status page; null without one */
  notesPath: string | null
  merged: MergeView
  people: readonly { email: string; name: string }[]
  /** address of the signed-in user */
  own: string
  mayEdit: boolean
  mayRespond: boolean
  now: Micros
}

export function IncidentPage(props: Props) {
  const { context, incident, timeline, mayEdit, mayRespond } = props
  return (
    <>
      <Crumb href={props.listPath} label="Incidents" />
      <Head {...props} />
      <div class="check-grid">
        <div>
          <Timeline {...timeline} />
        </div>
        <div>
          <Facts {...props} />
          <Merged context={context} incident={incident} path={timeline.path} view={props.merged} mayEdit={mayEdit} />
          {mayRespond && <Note context={context} path={timeline.path} />}
          {mayEdit && props.notesPath !== null && <PostUpdate incident={incident} path={props.notesPath} />}
        </div>
      </div>
      <Report {...props} />
    </>
  )
}

function Head(props: Props) {
  const { context, incident, check, rows, coming, timeline, own, canEscalate, mayRespond, now } = props
  const isOpen = incident.state !== 'resolved'
  return (
    <>
      <h1>
        {incident.name || 'A check without a name'} <StatePill incident={incident} />
      </h1>
      <p class="sentence">
        <Cause incident={incident} check={check} rows={rows} now={now} />
        {acknowledgedText(incident)}
        {isOpen && (
          <>
            {' '}
            <NextNotificationText incident={incident} {...coming} now={now} />
          </>
        )}
      </p>
      <Output output={props.output} path={props.checkPath} showsBody={props.mayEdit} />
      {mayRespond && isOpen && (
        <Actions context={context} incident={incident} path={timeline.path} own={own} canEscalate={canEscalate} />
      )}
    </>
  )
}

function Facts(props: Props) {
  const { context, incident, checkPath, policy, timeline, people, mayRespond } = props
  const { severity, assignee, previous } = incident
  return (
    <section class="card" aria-label="Facts">
      <dl class="facts">
        <Fact title="Check">
          <a href={checkPath}>{incident.name || 'A check without a name'}</a>
        </Fact>
        <Fact title="Severity">{severity}</Fact>
        <Fact title="Assigned to">
          {mayRespond ? (
            <Assignee context={context} incident={incident} path={timeline.path} people={people} />
          ) : (
            (assignee ?? <span class="muted">–</span>)
          )}
        </Fact>
        <Fact title="Policy">
          {policy ? <a href={policy.path}>{policy.name}</a> : 'None: the integrations of the check'}
        </Fact>
        {props.mayEdit && (
          <Fact title="Replay">
            <a href={props.simulatorPath}>With another policy</a>
          </Fact>
        )}
        {previous !== null && (
          <Fact title="Before">
            <a href={`/incidents/${previous}`}>The previous incident</a>
          </Fact>
        )}
        <Fact title="Export">
          <a href={`${timeline.path}/markdown`}>Markdown</a>
        </Fact>
      </dl>
    </section>
  )
}

function Note({ context, path }: { context: Context; path: string }) {
  return (
    <section class="card" aria-label="Note">
      <FieldForm
        context={context}
        action={`${path}/note`}
        class="inline-fields form-wide"
        items={[{ name: 'text', label: 'Add a note', maxLength: 2000 }]}
        submit="Add"
      />
    </section>
  )
}

const UPDATES = [
  { state: 'Investigating', text: 'We are investigating this outage.' },
  { state: 'Identified', text: 'We have found the cause and are working on it.' },
  { state: 'Monitoring', text: 'We have applied a fix and are watching the result.' },
  { state: 'Resolved', text: 'This outage is over.' },
] as const

/** Links to a filled form, so that nothing is public before the person has read it. */
function PostUpdate({ incident, path }: { incident: ShownIncident; path: string }) {
  const name = incident.name || 'A check'
  return (
    <section class="card" aria-labelledby="post-update">
      <h2 id="post-update">Post update</h2>
      <p class="hint">On the public status page. You can edit the text before it is posted.</p>
      <p class="row">
        {UPDATES.map(({ state, text }) => (
          <a
            key={state}
            class="button"
            href={`${path}?${new URLSearchParams({ title: `${state}: ${name}`.slice(0, 100), text })}`}
          >
            {state}
          </a>
        ))}
      </p>
    </section>
  )
}

function Report({ context, incident, timeline, mayEdit }: Props) {
  if (!mayEdit && incident.report === '') return null
  return (
    <section class="card" aria-labelledby="postmortem">
      <h2 id="postmortem">Postmortem</h2>
      {mayEdit ? (
        <Form context={context} action={`${timeline.path}/report`} class="stack form-wide">
          <TextArea
            name="report"
            label="Report"
            value={incident.report || REPORT_TEMPLATE}
            rows={12}
            hint="It stays with the incident and can be changed after its end."
          />
          <div class="row">
            <button type="submit" class="primary">
              Save the report
            </button>
            <button type="submit" name="do" value="insert-timeline">
              Insert timeline and save
            </button>
          </div>
        </Form>
      ) : (
        <p class="as-typed breakable">{incident.report}</p>
      )}
    </section>
  )
}
