import { channelKinds } from '#shared/monitoring/channels/kinds.ts'
import { type Micros, microsOfDate } from '#shared/time.ts'
import { KindIcon } from '../components/icons.tsx'
import { Ago } from '../components/time.tsx'
import type { IntegrationListView, ListedIntegration } from './integrations-view.ts'
import { labelOfKind } from './labels.ts'

export function IntegrationListPage({ view }: { view: IntegrationListView }) {
  return (
    <>
      <div class="page-head">
        <h1>Integrations</h1>
        {view.mayEdit && (
          <a class="button primary" href={`${view.base}/new`}>
            Add integration
          </a>
        )}
      </div>
      {view.channels.length === 0 ? <NoIntegrations view={view} /> : <Integrations view={view} />}
    </>
  )
}

function NoIntegrations({ view }: { view: IntegrationListView }) {
  return (
    <section class="card empty-card">
      <h2>Nobody is told yet</h2>
      <p>An integration tells people or other systems when a check goes down and when it comes back.</p>
      {view.mayEdit && (
        <a class="button primary" href={`${view.base}/new`}>
          Choose one of {channelKinds.size} kinds
        </a>
      )}
    </section>
  )
}

function Integrations({ view }: { view: IntegrationListView }) {
  return (
    <section class="card table-card">
      <table class="plain-table integrations">
        <caption class="hidden">Integrations of {view.projectName}</caption>
        <thead>
          <tr>
            <th scope="col">Integration</th>
            <th scope="col">Checks</th>
            <th scope="col">Last message</th>
          </tr>
        </thead>
        <tbody>
          {view.channels.map((channel) => (
            <tr key={channel.uuid}>
              <td>
                <KindIcon kind={channel.kind} />{' '}
                <a href={`/integrations/${channel.uuid}`}>{channel.name || labelOfKind(channel.kind)}</a>{' '}
                <small>{labelOfKind(channel.kind)}</small>
              </td>
              <td>{channel.uses}</td>
              <td>
                <LastResult channel={channel} now={view.now} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** How an integration is: what came of its last message, and whether and why it is switched off. */
function LastResult({ channel, now }: { channel: ListedIntegration; now: Micros }) {
  const at = channel.lastNotifyAt === null ? null : microsOfDate(channel.lastNotifyAt)
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

export function CataloguePage({ base }: { base: string }) {
  return (
    <>
      <p class="crumb">
        <a href={base}>Integrations</a>
      </p>
      <h1>Add integration</h1>
      <ul class="project-list catalogue">
        {[...channelKinds.values()].map((kind) => (
          <li key={kind.kind} class="card">
            <KindIcon kind={kind.kind} />
            <a class="stretched" href={`${base}/new/${kind.kind}`}>
              {kind.label}
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}
