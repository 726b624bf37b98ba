import { catalogue } from '#shared/monitoring/integrations/kinds.ts'
import type { Config } from '#shared/platform/process/config.ts'
import { type Micros, microsOfDate } from '#shared/time.ts'
import { ButtonForm, Form } from '../../forms/form.tsx'
import { EmptyCard } from '../../lists/empty-card.tsx'
import { type Column, ListPage } from '../../lists/list.tsx'
import { Ago, Crumb } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { KindIcon } from '../../shell/icons.tsx'
import { MESSAGES_IN_BAR, MessageBar } from '../../shell/notice.tsx'
import { unavailableReason } from './catalogue.ts'
import { type IntegrationListView, type ListedIntegration, usageText } from './integrations-view.ts'
import { labelOfKind } from './labels.ts'

interface Props {
  context: Context
  view: IntegrationListView
}

export function IntegrationListPage({ context, view }: Props) {
  const add = `${view.base}/new`
  return (
    <ListPage
      title="Integrations"
      label={`Integrations of ${view.projectName}`}
      path={view.base}
      actions={view.mayEdit ? [{ href: add, label: 'Add integration' }] : []}
      variant="integrations stacked"
      columns={integrationColumns(context, view)}
      rows={view.integrations}
      rowId={({ uuid }) => `integration-${uuid}`}
      wrap={(table) => <div data-region="integrations">{table}</div>}
      empty={
        <EmptyCard title="No integrations yet" action={view.mayEdit && { label: 'Choose a type', href: add }}>
          <p>An integration notifies people or other systems when a check goes down and when it recovers.</p>
        </EmptyCard>
      }
    />
  )
}

function integrationColumns(context: Context, view: IntegrationListView): Column<ListedIntegration>[] {
  const columns: Column<ListedIntegration>[] = [
    {
      title: 'Integration',
      cell: (integration) => (
        <span class="named">
          <KindIcon kind={integration.kind} />
          <span>
            <a href={`/integrations/${integration.uuid}`}>{nameOf(integration)}</a>
            <small>{labelOfKind(integration.kind)}</small>
          </span>
        </span>
      ),
    },
    { title: 'Used by', cell: usageText },
    { title: `Last ${MESSAGES_IN_BAR}`, cell: ({ states }) => <MessageBar states={states} /> },
    { title: 'Last message', cell: (integration) => <LastResult integration={integration} now={view.now} /> },
  ]
  if (!view.mayEdit) return columns
  const cell = (integration: ListedIntegration) => (
    <Actions context={context} integration={integration} base={view.base} />
  )
  return [...columns, { title: 'Actions', isTitleHidden: true, cell }]
}

const nameOf = ({ name, kind }: ListedIntegration) => name || labelOfKind(kind)

/** An integration that cannot send now has no test button; one without settings has no switch. */
function Actions(props: { context: Context; integration: ListedIntegration; base: string }) {
  const { context, integration, base } = props
  const path = `/integrations/${integration.uuid}`
  const isOn = integration.disabledAt === null
  return (
    <div class="row integration-actions">
      {isOn && integration.isEmailVerified && (
        <ButtonForm
          context={context}
          action={`${path}/test`}
          inline="A test message is on its way"
          label="Test"
          variant="quiet"
          name={`Send a test to ${nameOf(integration)}`}
          hidden={{ back: base }}
        />
      )}
      {integration.needsSettings ? (
        <a class="button quiet" href={`${path}/edit`} aria-label={`Enter the settings of ${nameOf(integration)}`}>
          Enter settings
        </a>
      ) : (
        <Form
          context={context}
          id={`switch-${integration.uuid}`}
          action={`${path}/${isOn ? 'disable' : 'enable'}`}
          inline="Saved"
        >
          <input type="hidden" name="back" value={base} />
          <button
            type="submit"
            role="switch"
            class="switch"
            aria-checked={isOn}
            aria-label={`${nameOf(integration)} notifies`}
          >
            {isOn ? 'On' : 'Off'}
          </button>
        </Form>
      )}
    </div>
  )
}

/** Shows the result of the last message, or why the integration is off. */
function LastResult({ integration, now }: { integration: ListedIntegration; now: Micros }) {
  const at = integration.lastNotifyAt === null ? null : microsOfDate(integration.lastNotifyAt)
  return (
    <>
      {integration.needsSettings ? (
        <span class="pill bad">needs settings</span>
      ) : integration.disabledAt !== null ? (
        <span class="pill bad">switched off</span>
      ) : !integration.isEmailVerified ? (
        <span class="pill bad">not confirmed</span>
      ) : at === null ? (
        <span class="muted">none yet</span>
      ) : (
        <span class={integration.lastError === '' ? 'pill good' : 'pill bad'}>
          {integration.lastError === '' ? 'sent' : 'failed'}
        </span>
      )}{' '}
      {at !== null && <Ago at={at} now={now} />}
      {integration.lastError !== '' && (
        <small class="breakable">
          {integration.lastError}
          {integration.lastSentAt !== null && (
            <>
              {' · last success '}
              <Ago at={microsOfDate(integration.lastSentAt)} now={now} />
            </>
          )}
        </small>
      )}
    </>
  )
}

/** Kinds that this installation cannot send by show the reason, and can still be set up. */
export function CataloguePage({ base, config }: { base: string; config: Config }) {
  return (
    <>
      <Crumb href={base} label="Integrations" />
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
                <CatalogueCard key={kind} base={base} kind={kind} about={about} why={unavailableReason(kind, config)} />
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
