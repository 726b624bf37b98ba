import { nameOf } from '#shared/monitoring/checks/slug.ts'
import type { SentMessage } from '#shared/monitoring/pages/integration-store.ts'
import type { MemberProject } from '#shared/monitoring/projects/member-store.ts'
import { type Micros, microsOfDate } from '#shared/time.ts'
import { ButtonForm, Form } from '../../forms/form.tsx'
import { Ago, Crumb } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { KindIcon } from '../../shell/icons.tsx'
import { checkPath } from '../../shell/workspace.ts'
import { type IntegrationView, usageText } from './integrations-view.ts'

interface Props {
  context: Context
  view: IntegrationView
}

export function IntegrationPage({ context, view }: Props) {
  return (
    <>
      <Crumb href={`/projects/${view.project.uuid}/integrations`} label="Integrations" />
      <div class="page-head">
        <h1 class="check-title">
          <KindIcon kind={view.integration.kind} /> {view.name}
        </h1>
        {view.mayEdit && (
          <div class="row">
            {view.integration.isEmailVerified && (
              <Form context={context} action={`${view.path}/test`} class="row">
                <button type="submit" class="primary">
                  Send a test
                </button>
                <button type="submit" name="status" value="up">
                  Test a recovery
                </button>
              </Form>
            )}
            <a class="button" href={`${view.path}/edit`}>
              Edit
            </a>
          </div>
        )}
      </div>
      <State context={context} view={view} />
      <div class="check-grid">
        <Messages view={view} isStuck={context.pingRefusal !== null} />
        <div>
          {view.options && <Options options={view.options} />}
          <UsedBy view={view} />
          {view.mayEdit && <Delete context={context} view={view} />}
        </div>
      </div>
    </>
  )
}

/** Shows why the integration is not notified, and a remedy. */
function State({ context, view }: Props) {
  return (
    <div data-region="state">
      {view.needsSettings && (
        <div class="problem">
          <p>
            <b>Needs settings</b>: it was imported without them, and sends nothing until you enter them.
          </p>
          {view.mayEdit && (
            <a class="button" href={`${view.path}/edit`}>
              Enter the settings
            </a>
          )}
        </div>
      )}
      {view.integration.disabledAt !== null && !view.needsSettings && (
        <div class="problem">
          <p>
            <b>Switched off</b> <Ago at={microsOfDate(view.integration.disabledAt)} now={view.now} />
            {view.integration.lastError === ''
              ? ': its recipient unsubscribed, or a member switched it off.'
              : `, because the service refuses permanently: ${view.integration.lastError}`}
          </p>
          {view.mayEdit && <ButtonForm context={context} action={`${view.path}/enable`} label="Switch on again" />}
        </div>
      )}
      {!view.integration.isEmailVerified && (
        <div class="problem">
          <p>
            <b>Waiting for its recipient</b>, who received a mail to confirm: alerts are sent once they agree.
          </p>
          {view.mayEdit && <ButtonForm context={context} action={`${view.path}/ask`} label="Send the mail again" />}
        </div>
      )}
    </div>
  )
}

/** @param props.isStuck nothing can be sent now, regardless of retry times */
function Messages({ view, isStuck }: Pick<Props, 'view'> & { isStuck: boolean }) {
  return (
    <section class="card" data-region="messages" aria-labelledby="messages">
      <h2 id="messages">Messages</h2>
      {view.messages.length === 0 ? (
        <p class="muted">None yet. Send a test to see that it works.</p>
      ) : (
        <ol class="entries">
          {view.messages.map((message) => (
            <Message key={message.id} message={message} project={view.project} now={view.now} isStuck={isStuck} />
          ))}
        </ol>
      )}
    </section>
  )
}

function UsedBy({ view }: Pick<Props, 'view'>) {
  const more = view.uses - view.users.length
  return (
    <section class="card" aria-labelledby="used">
      <h2 id="used">Used by</h2>
      <p>
        {usageText(view)} of {view.project.name}
      </p>
      <ul class="bare">
        {view.policies.map((policy) => (
          <li key={policy.uuid}>
            {view.mayEdit ? (
              <a href={`/projects/${view.project.uuid}/policies/${policy.uuid}`}>{policy.name}</a>
            ) : (
              policy.name
            )}{' '}
            <small>policy</small>
          </li>
        ))}
        {view.users.map((check) => (
          <li key={check.uuid}>
            <a href={checkPath(check, view.project)}>{nameOf(check)}</a>
          </li>
        ))}
        {more > 0 && <li class="muted">and {more} more</li>}
      </ul>
    </section>
  )
}

function Delete({ context, view }: Props) {
  const isUsed = view.uses + view.policies.length > 0
  const isOn = view.integration.disabledAt === null
  return (
    <section class="card" aria-labelledby="delete">
      <h2 id="delete">Delete</h2>
      <p class="muted">Deleting also removes its message log.{isOn && ' To pause it, switch it off instead.'}</p>
      {isOn && <ButtonForm context={context} action={`${view.path}/disable`} label="Switch off" />}
      <ButtonForm
        context={context}
        action={`${view.path}/delete`}
        confirm={`Delete ${view.name}? ${isUsed ? `${usageText(view)} will no longer notify through it.` : 'Nothing uses it.'}`}
        yes="Delete integration"
        label="Delete integration"
        variant="danger"
      />
    </section>
  )
}

function Options({ options }: { options: NonNullable<IntegrationView['options']> }) {
  return (
    <section class="card" aria-labelledby="options">
      <h2 id="options">Options</h2>
      <dl class="facts">
        <div>
          <dt>Type</dt>
          <dd>{options.kind}</dd>
        </div>
        {options.fields
          .filter(({ text, isHidden }) => text || isHidden)
          .map((field) => (
            <div key={field.name}>
              <dt>{field.label}</dt>
              <dd class="breakable">{field.text || <span class="muted">stored, not shown</span>}</dd>
            </div>
          ))}
      </dl>
    </section>
  )
}

const stateNames = { delivered: 'sent', failed: 'not sent', pending: 'trying', suppressed: 'kept back' } as const

function Message(props: { message: SentMessage; project: MemberProject; now: Micros; isStuck: boolean }) {
  const { message, project, now, isStuck } = props
  return (
    <li class="entry">
      <span class="entry-when">
        <Ago at={microsOfDate(message.createdAt)} now={now} />
      </span>
      <span class="entry-what">
        <span
          class={`pill ${message.state === 'delivered' ? 'good' : message.state === 'pending' ? '' : 'bad'}`}
          data-state={message.state}
        >
          {stateNames[message.state]}
        </span>{' '}
        {message.checkUuid === null ? (
          'test message'
        ) : (
          <>
            “{message.status}” of{' '}
            <a href={checkPath({ uuid: message.checkUuid }, project)}>
              {nameOf({ name: message.checkName ?? '', uuid: message.checkUuid })}
            </a>
          </>
        )}
        {message.error !== '' && <small class="ua">{message.error}</small>}
        {message.nextAttemptAt && (
          <small class="ua">
            {isStuck ? (
              'waits until the message broker can be reached'
            ) : (
              <>
                next attempt <Ago at={microsOfDate(message.nextAttemptAt)} now={now} />
              </>
            )}
          </small>
        )}
        {message.attempts.length > 0 && (
          <details>
            <summary>
              <small>
                {message.attempts.length} {message.attempts.length === 1 ? 'attempt' : 'attempts'}
              </small>
            </summary>
            <ol class="bare">
              {message.attempts.map((attempt) => (
                <li key={attempt.n}>
                  <small>
                    {new Date(attempt.startedAt).toISOString().slice(0, 19).replace('T', ' ')} UTC, {attempt.durationMs}{' '}
                    ms: {attempt.error || attempt.outcome}
                  </small>
                </li>
              ))}
            </ol>
          </details>
        )}
      </span>
    </li>
  )
}
