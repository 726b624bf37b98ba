import type { Micros } from '../../time.ts'
import { invalid, isPresent, readObject, readText, refuseUnknown } from '../alerting/fields.ts'
import type { JsonObject } from '../checks/json-body.ts'
import type { WindowTime } from '../maintenance/window.ts'
import { readSpan } from './read-override.ts'
import { readPerson } from './read-schedule.ts'

export interface SwapFields {
  /** the person who wants to be replaced */
  requester: string
  /** null: every member may take it */
  offeredTo: string | null
  time: WindowTime
  /** time in which the requester replaces the taker */
  back: WindowTime | null
  note: string
}

const MEMBERS = ['from', 'to', 'start', 'end', 'back', 'note']

/** @throws ValidationError for the first invalid member */
export function readSwap(body: JsonObject, now: Micros): SwapFields {
  const requester = readPerson(body.from, 'from')
  const offeredTo = isPresent(body.to) ? readPerson(body.to, 'to') : null
  if (offeredTo === requester) throw invalid('to', 'must be another person than from')
  const time = futureSpan(body, '', now)
  const back = isPresent(body.back) ? futureSpan(readObject(body.back, 'back'), 'back.', now) : null
  if (isPresent(body.back)) refuseUnknown(readObject(body.back, 'back'), 'back', ['start', 'end'])
  const note = isPresent(body.note) ? readText(body.note, 'note', { max: 500 }) : ''
  refuseUnknown(body, '', [...MEMBERS, 'api_key'])
  return { requester, offeredTo, time, back, note }
}

function futureSpan(body: JsonObject, path: '' | 'back.', now: Micros): WindowTime {
  if (!isPresent(body.start)) throw invalid(`${path}start`, 'is required')
  const { start, end } = readSpan(body, path, now)
  if (start <= now) throw invalid(`${path}start`, 'must be in the future')
  return { from: start, until: end }
}

export const SWAP_STATES = ['open', 'taken', 'cancelled', 'expired'] as const
export type SwapState = (typeof SWAP_STATES)[number]

/** An open swap expires at its start. */
export function shownSwapState({ state, time }: { state: SwapState; time: WindowTime }, now: Micros): SwapState {
  return state === 'open' && time.from <= now ? 'expired' : state
}

/** True for a swap that was taken and is not over. */
export function isTakenSwap(
  { state, time, back }: { state: SwapState } & Pick<SwapFields, 'time' | 'back'>,
  now: Micros,
) {
  return state === 'taken' && Math.max(time.until, back?.until ?? 0) > now
}
