import { isTakenSwap, shownSwapState } from '#shared/monitoring/on-call/read-swap.ts'
import type { StoredSwap } from '#shared/monitoring/on-call/swap-store.ts'
import { wallTimeText } from '#shared/monitoring/on-call/wall-time.ts'
import type { LoadedFacts } from '#shared/monitoring/operations/record-shifts.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import type { Micros } from '#shared/time.ts'
import { ButtonForm } from '../../forms/form.tsx'
import type { Context } from '../../shell/context.ts'
import { namesOf, type ScheduleWorkspace } from './load.ts'

interface Props {
  context: Context
  workspace: ScheduleWorkspace
  facts: LoadedFacts
  swaps: readonly StoredSwap[]
  now: Micros
}

/** Lists swaps that are open, or taken and not over, with the actions that the person may do. */
export function SwapList({ context, workspace, facts, swaps, now }: Props) {
  const { schedule, base } = workspace
  const shown = swaps.filter((swap) => shownSwapState(swap, now) === 'open' || isTakenSwap(swap, now))
  if (shown.length === 0) return null
  const { tz } = schedule
  const nameOf = namesOf([facts])
  return (
    <section class="card" aria-labelledby="swaps">
      <h2 id="swaps">Swaps</h2>
      <ul>
        {shown.map((swap) => (
          <li key={swap.uuid} class="row">
            <span class="breakable">
              {nameOf(swap.requester)} offers {wallTimeText(swap.time.from, tz)} to {wallTimeText(swap.time.until, tz)}
              {swap.offeredTo !== null && ` to ${nameOf(swap.offeredTo)}`}
              {swap.back && `, back ${wallTimeText(swap.back.from, tz)} to ${wallTimeText(swap.back.until, tz)}`}
              {swap.taker !== null && `; taken by ${nameOf(swap.taker)}`}
              {swap.note !== '' && `: ${swap.note}`}
            </span>
            {actionsFor(swap, workspace).map(({ what, label }) => (
              <ButtonForm
                key={what}
                context={context}
                action={`${base}/${schedule.uuid}/swaps/${swap.uuid}/${what}`}
                label={label}
                variant={what === 'take' ? undefined : 'quiet'}
                name={`${label} swap of ${nameOf(swap.requester)}`}
              />
            ))}
          </li>
        ))}
      </ul>
    </section>
  )
}

export type SwapAction = 'take' | 'release' | 'cancel'

/** The requester cannot take; only the taker releases; both and members with edit cancel. */
export function actionsFor(
  swap: StoredSwap,
  { project, session, isOwn }: Pick<ScheduleWorkspace, 'project' | 'session' | 'isOwn'>,
): { what: SwapAction; label: string }[] {
  if (!isOwn || !may(project.role, 'respond')) return []
  const { email } = session
  const isOffered = swap.requester !== email && (swap.offeredTo === null || swap.offeredTo === email)
  const isParty = swap.requester === email || swap.taker === email || may(project.role, 'edit')
  return [
    ...(swap.state === 'open' && isOffered ? [{ what: 'take' as const, label: 'Take' }] : []),
    ...(swap.state === 'taken' && swap.taker === email ? [{ what: 'release' as const, label: 'Release' }] : []),
    ...(isParty ? [{ what: 'cancel' as const, label: 'Cancel' }] : []),
  ]
}
