import type { NotificationDetail } from '../alerting/incident.ts'
import type { Summary } from './notification.ts'
import { listLinkOf, listText, namedList } from './text-parts.ts'

/** A notification in a message to a contact method. */
export interface BundledNotification {
  what: 'first' | 'repeat' | 'flapping' | 'recovery' | 'ack'
  status: 'up' | 'down'
  checkId: number | null
  flipId: number | null
  incidentId: string | null
  entry: number
  detail: NotificationDetail | null
  /** of the check; may be empty */
  name: string
  checkUuid: string
}

const STATES = { DOWN: 'DOWN', FLAPPING: 'FLAPPING', UP: 'UP', ACK: 'acknowledged' } as const
type State = keyof typeof STATES

function stateOf({ what, status }: Pick<BundledNotification, 'what' | 'status'>): State {
  if (what === 'ack') return 'ACK'
  return what === 'flapping' ? 'FLAPPING' : status === 'up' ? 'UP' : 'DOWN'
}

/** `2 checks are DOWN, 1 is UP`. Names have their state only if it differs. */
export function personalSummary(
  notifications: readonly Pick<BundledNotification, 'what' | 'status' | 'name' | 'checkUuid'>[],
  urls: Pick<Summary, 'link' | 'ackUrl'>,
): Summary {
  const byState = Map.groupBy(notifications, stateOf)
  const states = (Object.keys(STATES) as State[]).filter((state) => byState.has(state))
  const counts = states.map((state, index) => {
    const count = byState.get(state)?.length ?? 0
    const noun = index > 0 ? '' : count === 1 ? ' check' : ' checks'
    return `${count}${noun} ${count === 1 ? 'is' : 'are'} ${STATES[state]}`
  })
  const names = states.flatMap((state) =>
    (byState.get(state) ?? []).map(({ name, checkUuid }) => {
      const label = name || checkUuid
      return states.length === 1 ? label : `${label} ${STATES[state]}`
    }),
  )
  const list = namedList({ before: '', names, size: notifications.length, after: '.' })
  return { title: counts.join(', '), text: listText(list, listLinkOf(urls)), facts: [], list, ...urls }
}
