import type { Knex } from 'knex'
import { ConflictError, ForbiddenError, NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { Micros } from '../../time.ts'
import { invalid } from '../alerting/fields.ts'
import { alertingChanged } from '../alerting/policy-store.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { deleteOverridesOfSwap, insertOverride, overridesOf } from '../on-call/override-store.ts'
import { isTakenSwap, readSwap, shownSwapState } from '../on-call/read-swap.ts'
import { findSchedule, listResponders, type StoredSchedule } from '../on-call/schedule-store.ts'
import { findSwap, insertSwap, type StoredSwap, saveSwapState, swapsOf } from '../on-call/swap-store.ts'
import type { Project } from '../projects/store.ts'
import { changeFacts } from './change-facts.ts'
import { MAX_OVERRIDES } from './schedules.ts'
import { noteSwap, type SwapEvent } from './swap-notices.ts'

type Owner = Pick<Project, 'id' | 'organisationId'>

const NOT_OPEN = 'swap is not open'

/** Offers time of a person to others. @throws ValidationError, NotFoundError, ConflictError for overlapping open swaps */
export async function offerSwap(
  db: Knex,
  actor: Actor,
  input: { project: Owner; uuid: string; body: JsonObject; now: Micros },
): Promise<StoredSwap> {
  const { project, uuid, body, now } = input
  return await transaction(db, async (tx) => {
    const schedule = await findSchedule(tx, project.id, uuid)
    if (!schedule) throw new NotFoundError('')
    const fields = readSwap(body, now)
    const created = await changeFacts(tx, { id: schedule.id, now, actor }, async () => {
      const others = (await swapsOf(tx, schedule.id)).filter(
        (swap) => swap.requester === fields.requester && shownSwapState(swap, now) === 'open',
      )
      if (others.some(({ time }) => time.from < fields.time.until && fields.time.from < time.until))
        throw new ConflictError('overlaps an open swap')
      await audit(tx, actor, project, 'swap.offered', `${schedule.name}: ${fields.requester}`)
      return await insertSwap(tx, schedule.id, fields)
    })
    const swap = await requireSwap(tx, project.id, created ?? '')
    await noteSwap(tx, { schedule, swap, what: 'offered', actor, now })
    return swap
  })
}

/**
 * The taker replaces the requester, and with `back` the other way round. The overrides follow later changes of the
 * schedule. @throws ValidationError, NotFoundError, ConflictError if the swap is not open, ForbiddenError beyond MAX_OVERRIDES
 */
export async function takeSwap(
  db: Knex,
  actor: Actor,
  input: { project: Owner; uuid: string; person: string; now: Micros },
): Promise<StoredSwap> {
  const { project, uuid, person, now } = input
  return await changeSwap(
    db,
    actor,
    { project, uuid, now, what: 'taken', taker: person },
    async (tx, swap, schedule) => {
      if (shownSwapState(swap, now) !== 'open') throw new ConflictError(NOT_OPEN)
      if (person === swap.requester) throw invalid('person', 'must be another person than the requester')
      if (swap.offeredTo !== null && swap.offeredTo !== person) throw invalid('person', `must be ${swap.offeredTo}`)
      const members = await listResponders(tx, [project.organisationId])
      if (!members.some(({ email }) => email === person)) throw invalid('person', 'must be a member who may be on call')
      if ((await overridesOf(tx, [schedule.id], now)).length > MAX_OVERRIDES - 2)
        throw new ForbiddenError(`The schedule has reached its limit of ${MAX_OVERRIDES} overrides.`)
      const origin = { createdBy: person, swapId: swap.id }
      const { time, back, note, requester } = swap
      const forth = { person, replaces: requester, start: time.from, end: time.until, note }
      await insertOverride(tx, schedule.id, forth, origin)
      if (back) {
        const fields = { person: requester, replaces: person, start: back.from, end: back.until, note }
        await insertOverride(tx, schedule.id, fields, origin)
      }
      await saveSwapState(tx, swap.id, 'taken', person)
      return `${requester} by ${person}`
    },
  )
}

interface SwapInput {
  project: Owner
  uuid: string
  now: Micros
}

/** The taker gives the swap back before its start; others may take it again. @throws NotFoundError, ConflictError */
export async function releaseSwap(db: Knex, actor: Actor, input: SwapInput): Promise<StoredSwap> {
  return await changeSwap(db, actor, { ...input, what: 'released' }, async (tx, { id, state, time, back, taker }) => {
    if (state !== 'taken') throw new ConflictError('swap is not taken')
    if (Math.min(time.from, back?.from ?? time.from) <= input.now) throw new ConflictError('swap has begun')
    await deleteOverridesOfSwap(tx, id)
    await saveSwapState(tx, id, 'open', null)
    return taker ?? ''
  })
}

/** Ends an open or taken swap. Its past shifts stay recorded. @throws NotFoundError, ConflictError */
export async function cancelSwap(db: Knex, actor: Actor, input: SwapInput): Promise<StoredSwap> {
  return await changeSwap(db, actor, { ...input, what: 'cancelled' }, async (tx, swap) => {
    if (shownSwapState(swap, input.now) !== 'open' && !isTakenSwap(swap, input.now)) throw new ConflictError(NOT_OPEN)
    await deleteOverridesOfSwap(tx, swap.id)
    await saveSwapState(tx, swap.id, 'cancelled', null)
    return swap.requester
  })
}

/** Locks the schedule, so that one of two takers succeeds. `change` returns the people for the audit log. */
async function changeSwap(
  db: Knex,
  actor: Actor,
  { project, uuid, now, what, taker }: SwapInput & { what: SwapEvent; taker?: string },
  change: (tx: Knex, swap: StoredSwap, schedule: StoredSchedule) => Promise<string>,
): Promise<StoredSwap> {
  return await transaction(db, async (tx) => {
    const found = await requireSwap(tx, project.id, uuid)
    // Both get a notice of the swap instead of a mail about their shifts.
    const known = [found.requester, taker ?? found.taker ?? '']
    await changeFacts(tx, { id: found.scheduleId, now, actor, known }, async (schedule) => {
      const before = await requireSwap(tx, project.id, uuid)
      const people = await change(tx, before, schedule)
      await audit(tx, actor, project, `swap.${what}`, `${schedule.name}: ${people}`)
      const swap = { ...before, taker: taker ?? before.taker }
      await noteSwap(tx, { schedule, swap, what, actor, now })
    })
    return await requireSwap(tx, project.id, uuid)
  })
}

async function requireSwap(db: Knex, projectId: number, uuid: string): Promise<StoredSwap> {
  const swap = await findSwap(db, projectId, uuid)
  if (!swap) throw new NotFoundError('')
  return swap
}

/** Also invalidates the alerters' cache. */
async function audit(tx: Knex, actor: Actor, project: Owner, action: string, target: string): Promise<void> {
  await alertingChanged(tx, project.id)
  await insertActorAudit(tx, actor, { organisationId: project.organisationId, action, target })
}
