import type { Knex } from 'knex'
import type { Actor } from '../../tenancy/actor.ts'
import { type Micros, microsOfSeconds } from '../../time.ts'
import type { WindowTime } from '../maintenance/window.ts'
import { oneLine, shortName } from '../notifications/text-parts.ts'
import { insertNotices, withdrawNotices } from '../on-call/notice-store.ts'
import { listResponders, type Responder, type StoredSchedule } from '../on-call/schedule-store.ts'
import type { StoredSwap } from '../on-call/swap-store.ts'
import { wallTimeText } from '../on-call/wall-time.ts'
import { addressOf } from './change-facts.ts'

export type SwapEvent = 'offered' | 'taken' | 'released' | 'cancelled'

interface NotedSwap {
  schedule: StoredSchedule
  /** `taker` is the person who has or had it */
  swap: StoredSwap
  what: SwapEvent
  actor: Actor
  now: Micros
}

/** Before a start that is nearer, quiet hours do not delay a notice. */
const NEAR: Micros = microsOfSeconds(12 * 3600)

/** Stores a notice to each other party. It replaces notices about the swap that were not sent. */
export async function noteSwap(tx: Knex, { schedule, swap, what, actor, now }: NotedSwap): Promise<void> {
  const { time, back, uuid } = swap
  const people = new Map((await listResponders(tx, [schedule.organisationId])).map((one) => [one.email, one]))
  const notified = recipients(schedule, swap, what, [...people.keys()]).filter(
    (person) => !addressOf(actor).includes(person),
  )
  const key = `swap ${uuid} `
  await withdrawNotices(tx, schedule.id, key)
  const start = Math.min(time.from, back?.from ?? time.from)
  await insertNotices(
    tx,
    [...new Set(notified)].flatMap((person) => {
      const userId = people.get(person)?.userId
      if (userId === undefined) return []
      return {
        userId,
        scheduleId: schedule.id,
        key: `${key}${what} ${now}`,
        title: `Swap ${what}: ${shortName(schedule.name)}`,
        text: swapText(schedule, swap, what, people),
        usesRules: true,
        ignoresQuiet: start - now < NEAR,
        expiresAt: Math.max(time.until, back?.until ?? time.until),
      }
    }),
  )
}

/** An offer to every member is sent to the people of the layers. */
function recipients(
  { layers }: StoredSchedule,
  { requester, offeredTo, taker }: StoredSwap,
  what: SwapEvent,
  members: readonly string[],
): string[] {
  switch (what) {
    case 'offered': {
      const all = layers.flatMap(({ people }) => people).filter((person) => members.includes(person))
      return (offeredTo === null ? all : [offeredTo]).filter((person) => person !== requester)
    }
    case 'taken':
    case 'released':
      return [requester]
    case 'cancelled':
      return [requester, ...((taker ?? offeredTo) ? [taker ?? offeredTo ?? ''] : [])]
  }
}

function swapText(
  { tz }: StoredSchedule,
  { requester, taker, time, back }: StoredSwap,
  what: SwapEvent,
  people: ReadonlyMap<string, Responder>,
): string {
  const nameOf = (person: string | null) => oneLine(people.get(person ?? '')?.name || person || '')
  const span = ({ from, until }: WindowTime) => `from ${wallTimeText(from, tz)} to ${wallTimeText(until, tz)}`
  const from = nameOf(requester)
  const zone = `Times in ${tz}.`
  switch (what) {
    case 'offered':
      return `${from} needs a replacement ${span(time)}.${back ? ` In return, ${from} is on call ${span(back)}.` : ''} ${zone}`
    case 'taken': {
      const by = nameOf(taker)
      return `${by} replaces ${from} ${span(time)}.${back ? ` ${from} replaces ${by} ${span(back)}.` : ''} ${zone}`
    }
    case 'released':
      return `${nameOf(taker)} has released the swap of ${from} ${span(time)}. It is open again. ${zone}`
    case 'cancelled':
      return `The swap of ${from} ${span(time)} was cancelled. ${zone}`
  }
}
