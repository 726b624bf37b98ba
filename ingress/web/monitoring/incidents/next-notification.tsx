import type { Knex } from 'knex'
import { decisionText } from '#shared/monitoring/alerting/decision-text.ts'
import type { ShownDecision, ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import {
  NO_FURTHER,
  type Outlook,
  outlookOf,
  type SilentWindow,
} from '#shared/monitoring/alerting/next-notification.ts'
import type { Plan } from '#shared/monitoring/alerting/policy.ts'
import { policiesOf } from '#shared/monitoring/alerting/policy-store.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import { openWindows, windowNow } from '#shared/monitoring/maintenance/spans.ts'
import { isMute } from '#shared/monitoring/maintenance/window.ts'
import { windowsOf } from '#shared/monitoring/maintenance/window-store.ts'
import { shortName } from '#shared/monitoring/notifications/text-parts.ts'
import { runYielding } from '#shared/platform/process/time-slices.ts'
import type { Micros } from '#shared/time.ts'
import { Ago, Distance, Exact } from '../../shell/basics.tsx'
import { labelOfKind } from '../integrations/labels.ts'

/** Facts for the text about the next notification of an incident. */
export interface NextNotificationFacts {
  /** plan of the applicable policy; null without a policy */
  plan: Plan | null
  /** newest decision, which explains a suppression; null to omit its details */
  decision: Pick<ShownDecision, 'outcome' | 'detail' | 'reason' | 'until'> | null
  /** in which the check is silent now */
  window: SilentWindow | null
  /** name of an integration by uuid */
  nameOf(uuid: string): string
}

interface Props extends NextNotificationFacts {
  /** must be open */
  incident: ShownIncident
  /** omits the state of the incident, for a table that has a column for it */
  isShort?: boolean
  now: Micros
}

export async function loadNextNotificationFacts(
  db: Knex,
  projectId: number,
  now: Micros,
): Promise<(incident: ShownIncident, decision: NextNotificationFacts['decision']) => NextNotificationFacts> {
  const [policies, integrations, windows] = await Promise.all([
    policiesOf(db, [projectId]),
    listIntegrations(db, projectId),
    windowsOf(db, [projectId]),
  ])
  const open = await runYielding(openWindows(windows, now))
  const names = new Map(integrations.map(({ uuid, name, kind }) => [uuid, name || labelOfKind(kind)]))
  return ({ policyUuid, checkUuid, tags }, decision) => {
    const found = windowNow(open, { uuid: checkUuid, tags: splitTags(tags) })
    return {
      plan: policies.find(({ uuid }) => uuid === policyUuid)?.plan ?? null,
      decision,
      window: found && { isMute: isMute(found.window), until: found.until },
      nameOf: (uuid) => names.get(uuid) ?? 'a deleted integration',
    }
  }
}

/** A table names only the first of more recipients. */
const MAX_IN_LIST = 2

/** States the next notification with its time and recipients, or why none follows. `isShort` omits the subject. */
export function NextNotificationText(props: Props) {
  const { incident, plan, window, isShort = false, now } = props
  const outlook = outlookOf(incident, plan, window)
  if (outlook.kind === 'exhausted') return <>{isShort ? NO_FURTHER : `${NO_FURTHER} until it is up again.`}</>
  return (
    <>
      {!isShort && 'Next notification: '}
      <OutlookText outlook={outlook} {...props} isShort={isShort} now={now} />
      {!isShort && outlook.kind !== 'suppressed' && '.'}
    </>
  )
}

function OutlookText({ outlook, decision, nameOf, isShort = false, now }: Props & { outlook: Outlook }) {
  switch (outlook.kind) {
    case 'acknowledged':
      return (
        <>
          none{!isShort && ', it is acknowledged'}
          <Until at={outlook.until} isShort={isShort} now={now} />
        </>
      )
    case 'silent':
      return (
        <>
          none, it is {outlook.isMute ? 'muted' : 'in maintenance'}
          <Until at={outlook.until} isShort={isShort} now={now} />
        </>
      )
    case 'next': {
      const recipients = [
        ...outlook.people.map((target) => ('person' in target ? target.person : 'the person on call')),
        ...outlook.integrations.map((uuid) => (uuid === null ? 'its integrations' : shortName(nameOf(uuid)))),
      ]
      const shown = isShort && recipients.length > MAX_IN_LIST ? recipients.slice(0, 1) : recipients
      const more = recipients.length - shown.length
      return (
        <>
          {shown.join(', ')}
          {more > 0 && <span title={recipients.join(', ')}>{` and ${more} more`}</span>}{' '}
          {outlook.at <= now ? 'now' : <Ago at={outlook.at} now={now} />}
          {outlook.isRepeat && ', once more'}
          {!isShort && ', if it is still down and not acknowledged'}
        </>
      )
    }
    case 'personal':
      return (
        <>
          the notified people <Ago at={outlook.at} now={now} />
          {!isShort && ', by their notification rules'}
        </>
      )
    case 'suppressed': {
      if (isShort) return <>none for now</>
      const isReported = decision?.outcome === 'suppressed' && decision.reason === outlook.reason
      const why = decisionText({ outcome: '', reason: outlook.reason, detail: isReported ? decision.detail : {} })
      return (
        <>
          none for now: {why}
          {isReported && decision.until !== null && decision.until > now && (
            <>
              {' '}
              It is evaluated again <Ago at={decision.until} now={now} />.
            </>
          )}
        </>
      )
    }
    default:
      return <>none</>
  }
}

/** In a table, the rest of the time is shorter than its end. */
function Until({ at, isShort, now }: { at: Micros | null; isShort: boolean; now: Micros }) {
  if (at === null) return null
  if (isShort) {
    return (
      <>
        {' for '}
        <Distance at={at} now={now} />
      </>
    )
  }
  return (
    <>
      {' until '}
      <Exact at={at} isNamed />
    </>
  )
}
