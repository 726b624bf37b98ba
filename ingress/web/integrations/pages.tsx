import type { ChannelKind } from '#shared/monitoring/channels/kind.ts'
import { channelKinds, findKind } from '#shared/monitoring/channels/kinds.ts'
import { type ConfigObject, shownConfig } from '#shared/monitoring/channels/shown-config.ts'
import { listChannels, type StoredChannel } from '#shared/monitoring/channels/store.ts'
import { nameOf } from '#shared/monitoring/checks/name.ts'
import { openConfig } from '#shared/monitoring/operations/integration-config.ts'
import {
  countUses,
  integrationFingerprint,
  listSentMessages,
  type SentMessage,
} from '#shared/monitoring/pages/integration-store.ts'
import type { MemberProject } from '#shared/monitoring/projects/member-store.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import type { Micros } from '#shared/time.ts'
import { Form } from '../components/form.tsx'
import { KindTile } from '../components/icons.tsx'
import { Ago } from '../components/time.tsx'
import type { Context, Pages } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { liveAddress } from '../frame/live.ts'
import { checkPath, openProject } from '../frame/workspace.ts'
import { optionFields, textOfOption } from './fields.ts'
import { labelOfKind } from './labels.ts'
import { openIntegration } from './open-integration.ts'

const MESSAGES_SHOWN = 30

export function integrationPages(pages: Pages): void {
  pages.get('/projects/:project/integrations', showList)
  pages.get('/projects/:project/integrations/new', showCatalogue)
  pages.get('/integrations/:integration', showIntegration)
}

async function showList(context: Context): Promise<void> {
  const workspace = await openProject(context, 'view')
  const { project } = workspace
  const { db } = context.deps
  const [channels, uses] = await Promise.all([listChannels(db, project.id), countUses(db, project.id)])
  const mayEdit = may(project.role, 'edit')
  const base = `/projects/${project.uuid}/integrations`
  const now = context.deps.now()
  sendPage(
    context,
    { title: `Integrations · ${project.name}`, workspace, project, area: 'integrations' },
    <>
      <div class="page-head">
        <h1>Integrations</h1>
        {mayEdit && (
          <a class="button primary" href={`${base}/new`}>
            Add integration
          </a>
        )}
      </div>
      {channels.length === 0 ? (
        <section class="card empty-card">
          <h2>Nobody is told yet</h2>
          <p>An integration tells people or other systems when a check goes down and when it comes back.</p>
          {mayEdit && (
            <a class="button primary" href={`${base}/new`}>
              Choose one of {channelKinds.size} kinds
            </a>
          )}
        </section>
      ) : (
        <section class="card table-card">
          <table class="plain-table integrations">
            <caption class="hidden">Integrations of {project.name}</caption>
            <thead>
              <tr>
                <th scope="col">Integration</th>
                <th scope="col">Checks</th>
                <th scope="col">Last message</th>
              </tr>
            </thead>
            <tbody>
              {channels.map((channel) => (
                <tr key={channel.uuid}>
                  <td>
                    <KindTile kind={channel.kind} label={labelOfKind(channel.kind)} />{' '}
                    <a href={`/integrations/${channel.uuid}`}>{channel.name || labelOfKind(channel.kind)}</a>{' '}
                    <small>{labelOfKind(channel.kind)}</small>
                  </td>
                  <td>{uses.get(channel.uuid) ?? 0}</td>
                  <td>
                    <LastResult channel={channel} now={now} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>,
  )
}

/** How an integration is: what came of its last message, and whether and why it is switched off. */
function LastResult({ channel, now }: { channel: StoredChannel; now: Micros }) {
  const at = channel.lastNotifyAt === null ? null : channel.lastNotifyAt.getTime() * 1000
  return (
    <>
      {channel.disabledAt !== null ? (
        <span class="pill bad">switched off</span>
      ) : !channel.isEmailVerified ? (
        <span class="pill bad">not confirmed</span>
      ) : at === null ? (
        <span class="muted">none yet</span>
      ) : (
        <span class={channel.lastError === '' ? 'pill good' : 'pill bad'}>
          {channel.lastError === '' ? 'sent' : 'failed'}
        </span>
      )}{' '}
      {at !== null && <Ago at={at} now={now} />}
      {channel.lastError !== '' && <small class="breakable">{channel.lastError}</small>}
    </>
  )
}

async function showCatalogue(context: Context): Promise<void> {
  const workspace = await openProject(context, 'edit')
  const { project } = workspace
  const base = `/projects/${project.uuid}/integrations`
  sendPage(
    context,
    { title: 'Add integration', workspace, project, area: 'integrations' },
    <>
      <p class="crumb">
        <a href={base}>Integrations</a>
      </p>
      <h1>Add integration</h1>
      <ul class="project-list catalogue">
        {[...channelKinds.values()].map((kind) => (
          <li key={kind.kind} class="card">
            <KindTile kind={kind.kind} label={kind.label} />
            <a class="stretched" href={`${base}/new/${kind.kind}`}>
              {kind.label}
            </a>
          </li>
        ))}
      </ul>
    </>,
  )
}

async function showIntegration(context: Context): Promise<void> {
  const workspace = await openIntegration(context, 'view')
  const { channel, project } = workspace
  const { db, secrets } = context.deps
  const path = `/integrations/${channel.uuid}`
  const { mark } = await integrationFingerprint(db, channel.id)
  const [messages, uses] = await Promise.all([
    listSentMessages(db, channel.id, MESSAGES_SHOWN),
    countUses(db, project.id),
  ])
  const kind = findKind(channel.kind)
  const name = channel.name || labelOfKind(channel.kind)
  const mayEdit = may(project.role, 'edit')
  const now = context.deps.now()
  sendPage(
    context,
    {
      title: `${name} · ${project.name}`,
      workspace,
      project,
      area: 'integrations',
      live: liveAddress(`${path}/events`, mark),
    },
    <>
      <p class="crumb">
        <a href={`/projects/${project.uuid}/integrations`}>Integrations</a>
      </p>
      <div class="page-head">
        <h1 class="check-title">
          <KindTile kind={channel.kind} label={labelOfKind(channel.kind)} /> {name}
        </h1>
        {mayEdit && (
          <div class="row">
            <Form context={context} action={`${path}/test`}>
              <button type="submit" class="primary">
                Send a test
              </button>
            </Form>
            <a class="button" href={`${path}/edit`}>
              Edit
            </a>
          </div>
        )}
      </div>
      <div data-region="state">
        {channel.disabledAt !== null && (
          <div class="problem">
            <p>
              <b>Switched off</b> <Ago at={channel.disabledAt.getTime() * 1000} now={now} />
              {channel.lastError === ''
                ? ': its recipient asked for no more messages, or somebody switched it off.'
                : `, because the service said for good: ${channel.lastError}`}
            </p>
            {mayEdit && (
              <Form context={context} action={`${path}/enable`}>
                <button type="submit">Switch on again</button>
              </Form>
            )}
          </div>
        )}
        {!channel.isEmailVerified && (
          <div class="problem">
            <p>
              <b>Waiting for its recipient</b>, who was asked by mail: alerts go out once they agree.
            </p>
            {mayEdit && (
              <Form context={context} action={`${path}/ask`}>
                <button type="submit">Ask again</button>
              </Form>
            )}
          </div>
        )}
      </div>
      <div class="check-grid">
        <section class="card" data-region="messages" aria-labelledby="messages">
          <h2 id="messages">Messages</h2>
          {messages.length === 0 ? (
            <p class="muted">None yet. Send a test to see that it works.</p>
          ) : (
            <ol class="entries">
              {messages.map((message) => (
                <Message key={message.id} message={message} project={project} now={now} />
              ))}
            </ol>
          )}
        </section>
        <div>
          {kind && <Options kind={kind} config={openConfig(channel, secrets)} mayEdit={mayEdit} />}
          <section class="card" aria-labelledby="used">
            <h2 id="used">Used by</h2>
            <p>
              {uses.get(channel.uuid) ?? 0} {uses.get(channel.uuid) === 1 ? 'check' : 'checks'} of {project.name}
            </p>
            {mayEdit && (
              <Form context={context} action={`${path}/delete`} confirm={`Delete ${name}?`}>
                <button type="submit" class="danger">
                  Delete integration
                </button>
              </Form>
            )}
          </section>
        </div>
      </div>
    </>,
  )
}

/** Addresses that requests go to often hold a secret: they are shown only to those who may change them. */
function Options(props: { kind: ChannelKind; config: ConfigObject; mayEdit: boolean }) {
  const targets: readonly unknown[] = props.mayEdit ? [] : props.kind.targetsOf(props.config)
  const listed = Object.entries(shownConfig(props.kind, props.config)).filter(([, value]) => !targets.includes(value))
  const shown = Object.fromEntries(listed)
  const fields = optionFields(props.kind).filter((field) => field.type !== 'integrations')
  return (
    <section class="card" aria-labelledby="options">
      <h2 id="options">Options</h2>
      <dl class="facts">
        <div>
          <dt>Kind</dt>
          <dd>{props.kind.label}</dd>
        </div>
        {fields.map((field) => (
          <div key={field.name}>
            <dt>{field.label}</dt>
            <dd class="breakable">
              {textOfOption(field, shown) ||
                (textOfOption(field, props.config) ? <span class="muted">stored, not shown</span> : '–')}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

const stateNames = { delivered: 'sent', failed: 'not sent', pending: 'trying', suppressed: 'kept back' } as const

/** A message with every attempt at it. */
function Message({ message, project, now }: { message: SentMessage; project: MemberProject; now: Micros }) {
  return (
    <li class="entry">
      <span class="entry-when">
        <Ago at={message.createdAt.getTime() * 1000} now={now} />
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
            next attempt <Ago at={message.nextAttemptAt.getTime() * 1000} now={now} />
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
