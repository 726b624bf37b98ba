import { NO_FURTHER } from '#shared/monitoring/alerting/next-notification.ts'
import { type Policy, usesOwn } from '#shared/monitoring/alerting/policy.ts'
import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { nameOf, uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import type { ListedCheck } from '#shared/monitoring/pages/check-list-store.ts'
import type { DownDay } from '#shared/monitoring/pages/down-days.ts'
import type { MemberProject } from '#shared/monitoring/projects/member-store.ts'
import { type Micros, toIsoSeconds } from '#shared/time.ts'
import { Ago, Distance, Exact, integrationProblem, timeOf } from '../../shell/basics.tsx'
import { distanceText, humanDuration, initialsOf, relativeTime } from '../../shell/format.ts'
import { iconOfKind } from '../../shell/icon-rules.ts'
import { Icon, StatusGlyph } from '../../shell/icons.tsx'
import { checkPath } from '../../shell/workspace.ts'
import { DayBar } from '../day-bar.tsx'
import { labelOfKind } from '../integrations/labels.ts'
import type { Quiet, RowState } from './list-view.ts'

/** A row shows this many, and the number of the others. The check's page shows all. */
const SHOWN_INTEGRATIONS = 4
const SHOWN_TAGS = 2
/** A longer name may be cut. */
const SHOWN_LENGTH = 20

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
  mayEdit: boolean
  now: Micros
}

/** One check in one line of the list. */
export function CheckRow(props: RowProps) {
  const { check, status, state, now, mayEdit } = props
  const path = checkPath(check, props.project)
  return (
    <tr
      class={`is-${status}`}
      id={`check-${mayEdit ? check.uuid : uniqueKey(check.uuid)}`}
      data-next-change={state.nextChange === null ? undefined : toIsoSeconds(state.nextChange)}
    >
      <td class="c-status">
        {mayEdit && (
          <input
            type="checkbox"
            name="check"
            value={check.uuid}
            form="bulk-form"
            aria-label={`Select ${nameOf(check)}`}
          />
        )}
        <StatusGlyph status={status} isRunning={check.lastStart !== null} />
      </td>
      <td class="c-name">
        <div>
          <a href={path} title={nameOf(check).length > SHOWN_LENGTH ? nameOf(check) : undefined}>
            {nameOf(check)}
          </a>
          <Tags tags={splitTags(check.tags)} />
        </div>
      </td>
      <td class="c-days">
        <DayBar days={props.days} isSlim />
      </td>
      <td class="c-state">
        <State state={state} now={now} />
        <QuietIcon quiet={props.quiet} />
      </td>
      <Schedule check={check} />
      {check.lastPing === null ? (
        <td class="c-last">–</td>
      ) : (
        <td class="c-last" {...timeOf('for', check.lastPing)}>
          {distanceText(check.lastPing, now)}
        </td>
      )}
      {state.due === null || state.due < now ? (
        <td class="c-next">{state.due === null ? '–' : 'overdue'}</td>
      ) : (
        <td class="c-next" {...timeOf('ago', state.due)}>
          {relativeTime(state.due, now)}
        </td>
      )}
      <td class="c-integrations">
        <Toggles {...props} />
        {mayEdit && (
          <a
            class="row-more"
            href={path}
            data-slug={check.slug || undefined}
            data-muted={props.quiet?.kind === 'muted' || undefined}
            aria-label={`More of ${nameOf(check)}`}
          >
            ⋯
          </a>
        )}
      </td>
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

/** Shows the status in one line of a table, whose row has its colour. */
function State({ state: { word, since, why, at }, now }: { state: RowState; now: Micros }) {
  const isTimed = since !== null && since <= now
  return (
    <>
      {isTimed ? <b {...timeOf('for', since)}>{`${word} ${distanceText(since, now)}`}</b> : <b>{word}</b>}
      {why !== '' && ` · ${why} `}
      {why !== '' && at !== null && <Ago at={at} now={now} />}
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

const quietNames = {
  muted: 'Muted',
  maintenance: 'In maintenance',
  acknowledged: 'Acknowledged',
  exhausted: NO_FURTHER,
} as const
const quietIcons = {
  muted: 'mute',
  maintenance: 'windows',
  acknowledged: 'acknowledged',
  exhausted: 'exhausted',
} as const

/** Shows that a check sends no alerts, why and until when. @param props.isNamed with its words beside the icon */
export function QuietIcon({ quiet, isNamed = false }: { quiet: Quiet | null; isNamed?: boolean }) {
  if (!quiet) return null
  const by = quiet.kind === 'acknowledged' && quiet.by !== '' ? ` by ${quiet.by}` : ''
  const until = quiet.until === null ? '' : ` until ${toIsoSeconds(quiet.until)}`
  const label = `${quietNames[quiet.kind]}${by}${until}${quiet.kind === 'exhausted' ? '' : ': no alerts'}`
  return (
    <span class="quiet-icon" title={label}>
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

function Schedule({ check }: { check: ListedCheck }) {
  const grace = ` + ${humanDuration(check.graceSeconds)}`
  return (
    <td class="c-when" title={check.kind === 'simple' ? undefined : check.tz}>
      {check.kind === 'simple' ? humanDuration(check.timeoutSeconds) : <code>{check.schedule}</code>}
      {grace}
    </td>
  )
}

/**
 * The buttons submit the form around the list (RowForms). The pressed ones show the integrations that are notified. A
 * button changes an integration of the check, so it is read-only without the right to edit, and where the policy
 * decides.
 */
function Toggles({ check, integrations, policy, mayEdit }: RowProps) {
  if (integrations.length === 0) return <span class="muted">–</span>
  const steps = policy?.plan.steps ?? []
  const isOwnUsed = policy === null || steps.some(usesOwn)
  const byPolicy = new Set(steps.flatMap((step) => step.channels ?? []))
  const shown = integrations.slice(0, SHOWN_INTEGRATIONS)
  const more = integrations.length - shown.length
  return (
    <>
      {shown.map((integration) => {
        const isByPolicy = byPolicy.has(integration.uuid)
        const isOn = isByPolicy || (isOwnUsed && check.integrationIds.includes(integration.uuid))
        const reason = isByPolicy || !isOwnUsed ? `, set by the policy ${policy?.name}` : ''
        const trouble = integrationProblem(integration)
        const label = `${integration.name || labelOfKind(integration.kind)}${trouble && ` (${trouble})`}`
        return (
          // biome-ignore lint/a11y/useButtonType: submit is the default, and a list has hundreds of these buttons
          <button
            key={integration.uuid}
            name={check.uuid}
            value={integration.uuid}
            class={`toggle i-${iconOfKind(integration.kind)}${trouble && ' failing'}`}
            aria-pressed={isOn ? 'true' : 'false'}
            title={`${label} for ${nameOf(check)}${reason}`}
            disabled={!mayEdit || reason !== ''}
          />
        )
      })}
      {more > 0 && <small>+{more}</small>}
    </>
  )
}
