import type { StoredChannel } from '#shared/monitoring/channels/store.ts'
import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { nameOf } from '#shared/monitoring/checks/name.ts'
import { nextPing } from '#shared/monitoring/checks/status.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { uniqueKey } from '#shared/monitoring/checks/unique-key.ts'
import type { ListedCheck } from '#shared/monitoring/pages/check-list-store.ts'
import type { MemberProject } from '#shared/monitoring/projects/member-store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { type Micros, toSeconds } from '#shared/time.ts'
import { Copyable, Form } from '../components/form.tsx'
import { KindTile, StatusGlyph } from '../components/icons.tsx'
import { Ago } from '../components/time.tsx'
import type { Context } from '../frame/context.ts'
import { everyText, humanDuration } from '../frame/format.ts'
import { checkPath } from '../frame/workspace.ts'
import { labelOfKind } from '../integrations/labels.ts'

/** Beyond it a row says how many more there are; the check's own page has all. */
const SHOWN_CHANNELS = 6

export interface RowProps {
  context: Context
  check: ListedCheck
  project: MemberProject
  status: ShownStatus
  /** integrations that work */
  channels: readonly StoredChannel[]
  pingBase: string
  /** null when the project has none: then addresses are by uuid */
  pingKey: string | null
  mayEdit: boolean
  now: Micros
}

export function CheckRow(props: RowProps) {
  const { check, status, now, pingBase, pingKey, mayEdit } = props
  const path = checkPath(check, props.project)
  const url =
    pingKey !== null && check.slug !== '' ? `${pingBase}/${pingKey}/${check.slug}` : `${pingBase}/${check.uuid}`
  const tags = splitTags(check.tags)
  return (
    <tr class={`is-${status}`} id={`check-${mayEdit ? check.uuid : uniqueKey(check.uuid)}`}>
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
        <a href={path}>{nameOf(check)}</a>
        {tags.length > 0 && (
          <span class="row-tags">
            {tags.map((tag) => (
              <span class="tag small" key={tag}>
                {tag}
              </span>
            ))}
          </span>
        )}
      </td>
      <td class="c-url">
        {mayEdit ? (
          <Copyable text={url} label={`ping address of ${nameOf(check)}`} />
        ) : (
          <span class="muted">not shown</span>
        )}
      </td>
      <td class="c-when">
        <ScheduleText check={check} />
      </td>
      <td class="c-last">
        <LastPing check={check} status={status} now={now} />
      </td>
      <td class="c-channels">
        <Toggles {...props} />
      </td>
      <td class="c-actions">
        {mayEdit && (
          <Form
            context={props.context}
            action={`${path}/${status === 'paused' ? 'resume' : 'pause'}`}
            inline={status === 'paused' ? 'Resumed' : 'Paused'}
          >
            <input type="hidden" name="back" value={props.context.request.originalUrl} />
            <button
              type="submit"
              class="quiet"
              aria-label={`${status === 'paused' ? 'Resume' : 'Pause'} ${nameOf(check)}`}
            >
              {status === 'paused' ? 'Resume' : 'Pause'}
            </button>
          </Form>
        )}
      </td>
    </tr>
  )
}

function ScheduleText({ check }: { check: ListedCheck | Parameters<typeof nextPing>[0] }) {
  return (
    <>
      {check.kind === 'simple' ? (
        <span>{everyText(check.timeoutSeconds)}</span>
      ) : (
        <span title={check.tz}>
          <code>{check.schedule}</code>
        </span>
      )}
      <small>grace {humanDuration(check.graceSeconds)}</small>
    </>
  )
}

function LastPing({ check, status, now }: { check: ListedCheck; status: ShownStatus; now: Micros }) {
  const due = status === 'up' || status === 'grace' ? nextPing({ ...check, lastStart: null }, nextOccurrence) : null
  return (
    <>
      {check.lastPing === null ? <span class="muted">never</span> : <Ago at={check.lastPing} now={now} />}
      {check.lastDuration !== null && (
        <small title="Length of the last run">took {humanDuration(toSeconds(check.lastDuration))}</small>
      )}
      {due !== null && (
        <small>
          {due < now ? 'due' : 'next'} <Ago at={due} now={now} />
        </small>
      )}
    </>
  )
}

/** One form for all of them: the pressed button says which. Without the right to edit they only show. */
function Toggles({ context, check, project, channels, mayEdit }: RowProps) {
  if (channels.length === 0) return <span class="muted">none</span>
  const shown = channels.slice(0, SHOWN_CHANNELS)
  const more = channels.length - shown.length
  return (
    <Form context={context} action={`${checkPath(check, project)}/toggle`} class="toggles" inline="Saved">
      <input type="hidden" name="back" value={context.request.originalUrl} />
      {shown.map((channel) => {
        const isOn = check.channelIds.includes(channel.uuid)
        const label = `${channel.name || labelOfKind(channel.kind)} (${labelOfKind(channel.kind)})`
        return (
          <button
            key={channel.uuid}
            type="submit"
            name="channel"
            value={channel.uuid}
            class={isOn ? 'toggle on' : 'toggle'}
            aria-pressed={isOn ? 'true' : 'false'}
            aria-label={`${label} for ${nameOf(check)}`}
            title={`${label}: ${isOn ? 'on' : 'off'}`}
            disabled={!mayEdit}
          >
            <KindTile kind={channel.kind} label={labelOfKind(channel.kind)} />
          </button>
        )
      })}
      {more > 0 && <small>+{more}</small>}
    </Form>
  )
}
