import type { Config } from '#shared/platform/process/config.ts'
import { type Micros, microsOfDate } from '#shared/time.ts'
import { KindIcon } from '../components/icons.tsx'
import { Ago } from '../components/time.tsx'
import { catalogue, whyNot } from './catalogue.ts'
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
      <h2>No integrations yet</h2>
      <p>An integration tells people or other systems when a check goes down and when it comes back.</p>
      {view.mayEdit && (
        <a class="button primary" href={`${view.base}/new`}>
          Choose a kind
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

/** What can be chosen. What this installation cannot send by says why, and can be set up all the same; commands cannot. */
export function CataloguePage({ base, config }: { base: string; config: Config }) {
  return (
    <>
      <p class="crumb">
        <a href={base}>Integrations</a>
      </p>
      <h1>Add integration</h1>
      {catalogue.map(({ title, kinds }) => (
        <section key={title} class="catalogue-group" aria-label={title}>
          <h2>{title}</h2>
          <ul class="project-list catalogue">
            {kinds
              .filter(({ kind }) => config.shellEnabled || kind !== 'shell')
              .map(({ kind, about }) => (
                <CatalogueCard key={kind} base={base} kind={kind} about={about} why={whyNot(kind, config)} />
              ))}
          </ul>
        </section>
      ))}
    </>
  )
}

function CatalogueCard(props: { base: string; kind: string; about: string; why: string | null }) {
  const { base, kind, about, why } = props
  return (
    <li class={why === null ? 'card' : 'card is-off'}>
      <KindIcon kind={kind} />
      <span>
        <a class="stretched" href={`${base}/new/${kind}`}>
          {labelOfKind(kind)}
        </a>
        <small>{why ?? about}</small>
      </span>
    </li>
  )
}
