import { CONTACT_KINDS, isGatewaySet } from '#shared/monitoring/contacts/contact-kinds.ts'
import { type ContactMethod, isUsable, MAX_METHODS } from '#shared/monitoring/contacts/contact-method.ts'
import { DEFAULT_SETTINGS } from '#shared/monitoring/contacts/contact-rules.ts'
import { findContactRules, findOnCallSettings } from '#shared/monitoring/contacts/rule-store.ts'
import { feedOfPerson } from '#shared/monitoring/on-call/feed-store.ts'
import { listContactMethods } from '#shared/monitoring/operations/contact-config.ts'
import { ButtonForm } from '../../forms/form.tsx'
import { type Column, PlainTable } from '../../lists/list.tsx'
import { labelOfKind } from '../../monitoring/integrations/labels.ts'
import { FeedAddress, PersonalFeed } from '../../monitoring/on-call/feeds.tsx'
import { Crumb } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { sendPage } from '../../shell/layout.tsx'
import { signedIn } from '../../shell/workspace.ts'
import { shownAddress, stateText } from './method-page.tsx'
import { type FormState, RulesForm, SettingsForm, valuesOfRules, valuesOfSettings } from './rules-form.tsx'

/** @param sent forms that were not saved */
export async function showOverview(
  context: Context,
  sent: { rules?: FormState; settings?: FormState } = {},
  status = 200,
): Promise<void> {
  const workspace = await signedIn(context)
  const { db, secrets, config } = context.deps
  const { userId, tz } = workspace.session
  const methods = await listContactMethods(db, secrets, userId)
  const [rules, settings, feed] = await Promise.all([
    findContactRules(db, [userId]),
    findOnCallSettings(db, [userId]),
    feedOfPerson(db, userId),
  ])
  const shownRules = valuesOfRules(rules.get(userId) ?? { critical: [], other: [] })
  const shownSettings = valuesOfSettings(settings.get(userId) ?? DEFAULT_SETTINGS, tz || 'UTC')
  const options = methods.map((method) => ({ id: method.id, label: labelOf(method) }))
  sendPage(
    context,
    { title: 'My notifications', workspace, area: 'account' },
    <>
      <Crumb href="/account" label="Account" />
      <h1>My notifications</h1>
      <FeedAddress context={context} />
      <div class="settings">
        <section class="card" aria-labelledby="methods-title">
          <h2 id="methods-title">Contact methods</h2>
          <PlainTable variant="stacked" columns={columnsOf(context)} rows={methods} />
          {!methods.some((method) => isUsable(method, config)) && (
            <p class="notice">You have no usable contact method, so you get no notification when you are on call.</p>
          )}
          {methods.length < MAX_METHODS && <AddLinks context={context} />}
        </section>
        <section class="card" aria-labelledby="rules-title">
          <h2 id="rules-title">Notification rules</h2>
          <RulesForm
            context={context}
            methods={options}
            state={sent.rules ?? { values: shownRules, errors: new Map() }}
          />
        </section>
        <section class="card" aria-labelledby="times-title">
          <h2 id="times-title">Quiet hours and shifts</h2>
          <SettingsForm context={context} state={sent.settings ?? { values: shownSettings, errors: new Map() }} />
        </section>
        <section class="card" aria-labelledby="calendar-title">
          <h2 id="calendar-title">Calendar</h2>
          <p class="hint">An address for calendar programs with your shifts in all organisations.</p>
          <PersonalFeed context={context} base="/account/notifications" hasFeed={feed !== null} />
        </section>
      </div>
    </>,
    status,
  )
}

function labelOf(method: ContactMethod): string {
  const kind = labelOfKind(method.kind)
  return method.name === '' ? `${kind} ${shownAddress(method)}` : `${method.name} (${kind})`
}

function AddLinks({ context }: { context: Context }) {
  const kinds = CONTACT_KINDS.filter((kind) => isGatewaySet(kind, context.deps.config))
  return (
    <>
      <p class="sub">Add</p>
      <p class="row">
        {kinds.map((kind) => (
          <a key={kind} class="button" href={`/account/notifications/new/${kind}`}>
            {labelOfKind(kind)}
          </a>
        ))}
      </p>
    </>
  )
}

function columnsOf(context: Context): Column<ContactMethod>[] {
  const { config } = context.deps
  return [
    {
      title: 'Method',
      cell: (method) => <a href={`/account/notifications/${method.id}`}>{method.name || labelOfKind(method.kind)}</a>,
    },
    { title: 'Address', isLabelled: true, variant: 'breakable', cell: shownAddress },
    { title: 'State', isLabelled: true, cell: (method) => stateText(method, config) },
    {
      title: 'Action',
      isTitleHidden: true,
      cell: (method) =>
        isUsable(method, config) ? (
          <ButtonForm
            context={context}
            action={`/account/notifications/${method.id}/test`}
            label="Send test"
            name={`Send test to ${labelOf(method)}`}
          />
        ) : (
          <a
            class="button"
            href={`/account/notifications/${method.id}`}
            aria-label={`${method.isVerified ? 'Open' : 'Verify'} ${labelOf(method)}`}
          >
            {method.isVerified ? 'Open' : 'Verify'}
          </a>
        ),
    },
  ]
}
