import { catalogue } from '#shared/monitoring/integrations/kinds.ts'
import type { Config } from '#shared/platform/process/config.ts'
import { type Micros, microsOfDate } from '#shared/time.ts'
import { Ago } from '../../components/basics.tsx'
import { Form } from '../../components/form.tsx'
import { KindIcon } from '../../components/icons.tsx'
import { MESSAGES_IN_BAR, MessageBar } from '../../components/notice.tsx'
import type { Context } from '../../shell/context.ts'
import { whyNot } from './catalogue.ts'
import { type IntegrationListView, type ListedIntegration, usageText } from './integrations-view.ts'
import { labelOfKind } from './labels.ts'

interface Props {
  context: Context
  view: IntegrationListView
}

export function IntegrationListPage({ context, view }: Props) {
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
      {view.channels.length === 0 ? <NoIntegrations view={view} /> : <Integrations context={context} view={view} />}
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

function Integrations({ context, view }: Props) {
  return (
    <section class="card table-card" data-region="integrations">
      <table class="plain-table integrations stacked">
        <caption class="hidden">Integrations of {view.projectName}</caption>
        <thead>
          <tr>
            <th scope="col">Integration</th>
            <th scope="col">Used by</th>
            <th scope="col">Last {MESSAGES_IN_BAR}</th>
            <th scope="col">Last message</th>
            {view.mayEdit && (
              <th scope="col">
                <span class="hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {view.channels.map((channel) => (
            <tr key={channel.uuid} id={`integration-${channel.uuid}`}>
              <td>
                <span class="named">
                  <KindIcon kind={channel.kind} />
                  <span>
                    <a href={`/integrations/${channel.uuid}`}>{nameOf(channel)}</a>
                    <small>{labelOfKind(channel.kind)}</small>
                  </span>
                </span>
              </td>
              <td>{usageText(channel)}</td>
              <td>
                <MessageBar states={channel.states} />
              </td>
              <td>
                <LastResult channel={channel} now={view.now} />
              </td>
              {view.mayEdit && (
                <td>
                  <Actions context={context} channel={channel} base={view.base} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const nameOf = ({ name, kind }: ListedIntegration) => name || labelOfKind(kind)

/** Trying it and switching it, from where one sees all of them. What cannot send now is not tried. */
function Actions(props: { context: Context; channel: ListedIntegration; base: string }) {
  const { context, channel, base } = props
  const path = `/integrations/${channel.uuid}`
  const isOn = channel.disabledAt === null
  return (
    <div class="row integration-actions">
      {isOn && channel.isEmailVerified && (
        <Form context={context} action={`${path}/test`} inline="A test message is on its way">
          <input type="hidden" name="back" value={base} />
          <button type="submit" class="quiet" aria-label={`Send a test to ${nameOf(channel)}`}>
            Test
          </button>
        </Form>
      )}
      <Form
        context={context}
        id={`switch-${channel.uuid}`}
        action={`${path}/${isOn ? 'disable' : 'enable'}`}
        inline="Saved"
      >
        <input type="hidden" name="back" value={base} />
        <button type="submit" role="switch" class="switch" aria-checked={isOn} aria-label={`${nameOf(channel)} tells`}>
          {isOn ? 'On' : 'Off'}
        </button>
      </Form>
    </div>
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
      {channel.lastError !== '' && (
        <small class="breakable">
          {channel.lastError}
          {channel.lastSentAt !== null && (
            <>
              {' · the last one sent '}
              <Ago at={microsOfDate(channel.lastSentAt)} now={now} />
            </>
          )}
        </small>
      )}
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
      <div class="page-head">
        <h1>Add integration</h1>
        <p data-scripted hidden>
          <label class="hidden" for="kind-search">
            Search integrations
          </label>
          <input
            id="kind-search"
            type="search"
            placeholder="Search"
            data-filters="catalogue-group"
            autocomplete="off"
          />
        </p>
      </div>
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
