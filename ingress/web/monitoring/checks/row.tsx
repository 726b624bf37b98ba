import type { Policy } from '#shared/monitoring/alerting/policy.ts'
import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { nameOf, uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import type { ListedCheck } from '#shared/monitoring/pages/check-list-store.ts'
import type { DownDay } from '#shared/monitoring/pages/down-days.ts'
import type { MemberProject } from '#shared/monitoring/projects/member-store.ts'
import { type Micros, toIsoSeconds } from '#shared/time.ts'
import { Form } from '../../forms/form.tsx'
import { Ago, Distance, Exact, troubleOf } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { everyText, humanDuration, initialsOf } from '../../shell/format.ts'
import { Icon, KindIcon, StatusGlyph } from '../../shell/icons.tsx'
import { checkPath } from '../../shell/workspace.ts'
import { DayBar } from '../day-bar.tsx'
import { labelOfKind } from '../integrations/labels.ts'
import type { Quiet, RowState } from './list-view.ts'

/** A row shows this many, and the number of the others. The check's page shows all. */
const SHOWN_INTEGRATIONS = 4
const SHOWN_TAGS = 2

export interface RowProps {
  check: ListedCheck
  project: MemberProject
  status: ShownStatus
  state: RowState
  quiet: Quiet | null
  /** null: the integrations of the check are notified of each change */
  policy: Pick<Policy, 'name' | 'plan'> | null
  days: readonly DownDay[]
  /** integrations that work */
  integrations: readonly StoredIntegration[]
  pingBase: string
  /** null when the project has none: then addresses are by uuid */
  pingKey: string | null
  mayEdit: boolean
  now: Micros
}

/**
 * Renders the forms that the buttons of all rows share, each with its own address. One form per button made up half of
 * the page. A ping has no fields, because they would be stored as its body.
 */
export function RowForms({ context }: { context: Context }) {
  return (
    <>
      <Form context={context} id="row-form" action={context.request.originalUrl}>
        <input type="hidden" name="back" value={context.request.originalUrl} />
      </Form>
      <form method="post" id="ping-form" />
    </>
  )
}

/** Connects a button to one of the forms of the list; `message` is shown after success. */
function rowAction(path: string, message: string, form = 'row-form') {
  return { type: 'submit', form, formAction: path, 'data-inline': message } as const
}

/** One check in one line of the list. */
export function CheckRow(props: RowProps) {
  const { check, status, state, now, mayEdit } = props
  const path = checkPath(check, props.project)
  return (
    <tr
      class={`is-${status}`}
      id={`check-${mayEdit ? check.uuid : uniqueKey(check.uuid)}`}
      data-turns={state.turns === null ? undefined : toIsoSeconds(state.turns)}
    >
      <td class="c-status">
        {mayEdit && (
          <input
            type="checkbox"
            name="check"
            value={check.uuid}
            form="bulk-form"
            data-name={nameOf(check)}
            aria-label={`Select ${nameOf(check)}`}
          />
        )}
        <StatusGlyph status={status} isRunning={check.lastStart !== null} />
      </td>
      <td class="c-name">
        <div>
          <a href={path} title={nameOf(check)}>
            {nameOf(check)}
          </a>
          <Tags tags={splitTags(check.tags)} />
        </div>
      </td>
      <td class="c-days">
        <DayBar days={props.days} isSlim />
      </td>
      <td class="c-state">
        <StateText state={state} status={status} now={now} />
        <QuietMark quiet={props.quiet} />
      </td>
      <td class="c-when">
        <ScheduleText check={check} />
      </td>
      <td class="c-last">{check.lastPing === null ? '–' : <Distance at={check.lastPing} now={now} />}</td>
      <td class="c-next">
        {state.due === null ? '–' : state.due < now ? 'overdue' : <Ago at={state.due} now={now} />}
      </td>
      <td class="c-integrations">
        <Toggles {...props} />
      </td>
      <td class="c-actions">{mayEdit && <Menu {...props} path={path} />}</td>
    </tr>
  )
}

function Tags({ tags }: { tags: readonly string[] }) {
  const more = tags.slice(SHOWN_TAGS)
  return (
    <>
      {tags.slice(0, SHOWN_TAGS).map((tag) => (
        <span class="tag small" key={tag}>
          {tag}
        </span>
      ))}
      {more.length > 0 && (
        <span class="tag small" title={more.join(' ')}>
          +{more.length}
        </span>
      )}
    </>
  )
}

/** Returns the status as text. */
export function StateText({ state, status, now }: { state: RowState; status: ShownStatus; now: Micros }) {
  return (
    <span class={`state is-${status}`}>
      <b>
        {state.word}
        {state.since !== null && state.since <= now && (
          <>
            {' '}
            <Distance at={state.since} now={now} />
          </>
        )}
      </b>
      {state.why !== '' && (
        <span class="why">
          {' · '}
          {state.why}
          {state.at !== null && (
            <>
              {' '}
              <Ago at={state.at} now={now} />
            </>
          )}
        </span>
      )}
    </span>
  )
}

const quietNames = { muted: 'Muted', maintenance: 'In maintenance', acknowledged: 'Acknowledged' } as const
const quietIcons = { muted: 'mute', maintenance: 'windows', acknowledged: 'acknowledged' } as const

/** Shows that a check sends no alerts, why and until when. @param props.isNamed with its words beside the icon */
export function QuietMark({ quiet, isNamed = false }: { quiet: Quiet | null; isNamed?: boolean }) {
  if (!quiet) return null
  const by = quiet.kind === 'acknowledged' && quiet.by !== '' ? ` by ${quiet.by}` : ''
  const until = quiet.until === null ? '' : ` until ${toIsoSeconds(quiet.until)}`
  const label = `${quietNames[quiet.kind]}${by}${until}: no alerts`
  return (
    <span class="quiet-mark" title={label}>
      <Icon name={quietIcons[quiet.kind]} />
      {quiet.kind === 'acknowledged' && initialsOf(quiet.by) !== '' && <b aria-hidden="true">{initialsOf(quiet.by)}</b>}
      {isNamed ? (
        <>
          {quietNames[quiet.kind]}
          {quiet.until !== null && (
            <>
              {' until '}
              <Exact at={quiet.until} />
            </>
          )}
        </>
      ) : (
        <span class="hidden">{label}</span>
      )}
    </span>
  )
}

function ScheduleText({ check }: { check: ListedCheck }) {
  const title = `Late for more than ${humanDuration(check.graceSeconds)}, it goes down`
  return (
    <span title={check.kind === 'simple' ? title : `${check.tz}. ${title}`}>
      {check.kind === 'simple' ? everyText(check.timeoutSeconds).replace('every ', '') : <code>{check.schedule}</code>}
      <span class="muted"> + {humanDuration(check.graceSeconds)}</span>
    </span>
  )
}

/**
 * The pressed buttons show the integrations that are notified. A button changes an integration of the check, so it is
 * read-only without the right to edit, and where the policy decides.
 */
function Toggles({ check, project, integrations, policy, mayEdit }: RowProps) {
  if (integrations.length === 0) return <span class="muted">–</span>
  const steps = policy?.plan.steps ?? []
  const isOwnUsed = policy === null || steps.some((step) => step.channels === null)
  const byPolicy = new Set(steps.flatMap((step) => step.channels ?? []))
  const shown = integrations.slice(0, SHOWN_INTEGRATIONS)
  const more = integrations.length - shown.length
  return (
    <div class="toggles">
      {shown.map((integration) => {
        const isByPolicy = byPolicy.has(integration.uuid)
        const isOn = isByPolicy || (isOwnUsed && check.integrationIds.includes(integration.uuid))
        const reason = isByPolicy || !isOwnUsed ? `, set by the policy ${policy?.name}` : ''
        const trouble = troubleOf(integration)
        const label = `${integration.name || labelOfKind(integration.kind)} (${labelOfKind(integration.kind)}${trouble && `, ${trouble}`})`
        return (
          <button
            key={integration.uuid}
            {...rowAction(`${checkPath(check, project)}/toggle`, 'Saved')}
            name="integration"
            value={integration.uuid}
            class={`toggle${isOn ? ' on' : ''}${trouble && ' failing'}`}
            aria-pressed={isOn ? 'true' : 'false'}
            aria-label={`${label} for ${nameOf(check)}`}
            title={`${label}: ${isOn ? 'on' : 'off'}${reason}`}
            disabled={!mayEdit || reason !== ''}
          >
            <KindIcon kind={integration.kind} />
          </button>
        )
      })}
      {more > 0 && <small>+{more}</small>}
    </div>
  )
}

/** Shows the rarely needed actions of a row. */
function Menu(props: RowProps & { path: string }) {
  const { check, status, quiet, pingBase, pingKey, path } = props
  const name = nameOf(check)
  const bySlug = pingKey !== null && check.slug !== ''
  const url = bySlug ? `${pingBase}/${pingKey}/${check.slug}` : `${pingBase}/${check.uuid}`
  const verb = status === 'paused' ? 'resume' : 'pause'
  const label = status === 'paused' ? 'Resume' : 'Pause'
  return (
    <details class="menu row-menu">
      <summary aria-label={`More of ${name}`}>
        <Icon name="more" />
      </summary>
      <ul>
        <li>
          <button type="button" data-copy={url} aria-label={`Copy ping address of ${name}`} hidden>
            Copy ping address
          </button>
        </li>
        <li>
          <button {...rowAction(`/ping/${check.uuid}`, 'Pinged', 'ping-form')} aria-label={`Ping ${name} now`}>
            Ping now
          </button>
        </li>
        <li>
          <button {...rowAction(`${path}/${verb}`, `${label}d`)} aria-label={`${label} ${name}`}>
            {label}
          </button>
        </li>
        <li>
          {quiet?.kind === 'muted' ? (
            <button {...rowAction(`${path}/unmute`, 'Unmuted')} aria-label={`Unmute ${name}`}>
              Unmute
            </button>
          ) : (
            <button {...rowAction(`${path}/mute`, 'Muted for 1 hour')} aria-label={`Mute ${name} for 1 hour`}>
              Mute for 1 hour
            </button>
          )}
        </li>
        <li>
          <a href={`${path}/edit`} aria-label={`Edit ${name}`}>
            Edit
          </a>
        </li>
      </ul>
    </details>
  )
}
