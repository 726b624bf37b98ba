import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'

export interface PublicState {
  status: ShownStatus
  check: { name: string }
  /** set during maintenance that the page shows */
  maintenanceUntil: number | null
  /** its open incident is acknowledged */
  isAcknowledged?: boolean
}

const WORDS: Readonly<Record<ShownStatus, string>> = {
  up: 'Operational',
  grace: 'Delayed',
  down: 'Down',
  new: 'No data yet',
  paused: 'Paused',
}
const SORT_ORDER: Readonly<Record<ShownStatus, number>> = { down: 0, grace: 1, up: 2, new: 3, paused: 4 }

/** Maintenance is not an outage. */
export function publicLabel(
  { status, maintenanceUntil, isAcknowledged = false }: PublicState,
  showsProgress = false,
): string {
  if (maintenanceUntil !== null) return 'Maintenance'
  return status === 'down' && isAcknowledged && showsProgress ? 'Down - being worked on' : WORDS[status]
}

export function publicStatus({ status, maintenanceUntil }: PublicState): ShownStatus {
  return maintenanceUntil === null ? status : 'paused'
}

/** Down first, then late, the rest by name. Omits paused checks, because they are not monitored. */
export function publicOrder<T extends PublicState>(all: readonly T[]): T[] {
  return all
    .filter(({ status, maintenanceUntil }) => status !== 'paused' || maintenanceUntil !== null)
    .toSorted(
      (a, b) =>
        SORT_ORDER[publicStatus(a)] - SORT_ORDER[publicStatus(b)] ||
        a.check.name.localeCompare(b.check.name, 'en', { numeric: true }),
    )
}

/**
 * Groups checks by tag, in the order of names; checks without a tag are last.
 * @param isGrouped true to group by the first tag; otherwise one group without a name
 */
export function groupsOf<T extends PublicState & { check: { tags: string } }>(
  ordered: readonly T[],
  isGrouped: boolean,
): { name: string; members: T[] }[] {
  const groups = Map.groupBy(ordered, ({ check }) => (isGrouped ? (splitTags(check.tags)[0] ?? '') : ''))
  const hasNames = [...groups.keys()].some((name) => name !== '')
  return [...groups]
    .toSorted(([a], [b]) => Number(a === '') - Number(b === '') || a.localeCompare(b, 'en', { numeric: true }))
    .map(([name, members]) => ({ name: name === '' && hasNames ? 'Others' : name, members }))
}

/** Counts checks in maintenance apart from the others. */
export function overall(shown: readonly PublicState[]): { text: string; status: ShownStatus } {
  const count = (status: ShownStatus) => shown.filter((one) => publicStatus(one) === status).length
  const [down, late, up] = [count('down'), count('grace'), count('up')]
  const total = shown.length
  const maintained = shown.filter(({ maintenanceUntil }) => maintenanceUntil !== null).length
  const also = maintained === 0 ? '' : `, ${maintained} in maintenance`
  if (down > 0) return { status: 'down', text: `${down} of ${total} ${down === 1 ? 'is' : 'are'} down${also}` }
  if (late > 0) {
    return { status: 'grace', text: `All operational, ${late} ${late === 1 ? 'is' : 'are'} delayed${also}` }
  }
  if (up > 0) return { status: 'up', text: `All operational${also}` }
  if (maintained > 0)
    return { status: 'paused', text: maintained === total ? 'In maintenance' : `Nothing is known yet${also}` }
  return { status: 'new', text: 'Nothing is known yet' }
}
