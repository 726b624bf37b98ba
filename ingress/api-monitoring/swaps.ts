import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { refuseUnknown } from '#shared/monitoring/alerting/fields.ts'
import { readPerson } from '#shared/monitoring/on-call/read-schedule.ts'
import { SWAP_STATES, shownSwapState } from '#shared/monitoring/on-call/read-swap.ts'
import { findSchedule } from '#shared/monitoring/on-call/schedule-store.ts'
import { findSwap, type StoredSwap, swapsOf } from '#shared/monitoring/on-call/swap-store.ts'
import { cancelSwap, offerSwap, releaseSwap, takeSwap } from '#shared/monitoring/operations/swaps.ts'
import { type Micros, toIsoSeconds } from '#shared/time.ts'
import type { Route } from '../route.ts'
import { pageOf, pageQuery } from './list-page.ts'
import { read, readWriteKey, withStatus, write } from './monitoring-route.ts'
import { instant, json, scheduleParam, swapParam } from './on-call-schemas.ts'

const address = z.email().max(254)
const time = { start: instant, end: instant }
const request = {
  from: address.describe('The person who wants to be replaced.'),
  to: address.nullish().describe('The only person who may take it; null: every member.'),
  ...time,
  back: z.object(time).nullish().describe('Time in which `from` replaces the taker.'),
  note: z.string().max(500).nullish(),
}
const swapSchema = z
  .object({ id: z.uuid(), schedule: z.uuid(), state: z.enum(SWAP_STATES), taker: address.nullable(), ...request })
  .meta({ id: 'OnCallSwap' })

const conflict = { 409: { description: 'The swap is not in a state that permits this.' } }
const common = {
  tags: ['On call'],
  errors: [400, 404, 413],
  responses: { 200: { description: 'The swap.', content: json(swapSchema) }, ...conflict },
}

/** Swaps of shifts; version 3 only. */
export const swapRoutes: readonly Route[] = [
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/on-call/schedules/{schedule}/swaps/',
    operationId: 'listSwaps',
    summary: 'List the swaps of an on-call schedule, newest first',
    params: { schedule: scheduleParam },
    query: pageQuery,
    responses: {
      200: {
        description: 'A page of swaps; `next` is the cursor of the next page.',
        content: json(z.object({ swaps: z.array(swapSchema), next: z.string().nullable() })),
      },
    },
    async handle({ key, params, request, deps }) {
      const schedule = await findSchedule(deps.db, key.project.id, params.schedule)
      if (!schedule) throw new NotFoundError('')
      const { page, next } = pageOf(await swapsOf(deps.db, schedule.id), request)
      const now = deps.now()
      return { swaps: page.map((swap) => swapView(swap, now)), next }
    },
  }),
  write({
    ...common,
    path: '/api/v3/on-call/schedules/{schedule}/swaps/',
    operationId: 'offerSwap',
    summary: 'Offer time of a person to others',
    params: { schedule: scheduleParam },
    body: { required: true, content: json(z.object(request).meta({ id: 'OnCallSwapRequest' })) },
    responses: { 201: { description: 'The swap.', content: json(swapSchema) }, ...conflict },
    async handle({ key, actor, params, body, deps }) {
      const now = deps.now()
      const swap = await offerSwap(deps.db, actor, { project: key.project, uuid: params.schedule, body, now })
      return withStatus(201, swapView(swap, now))
    },
  }),
  write({
    ...common,
    path: '/api/v3/on-call/swaps/{swap}/take',
    operationId: 'takeSwap',
    summary: 'Take a swap for a person',
    description: 'The person replaces `from`, also after later changes of the schedule.',
    params: { swap: swapParam },
    body: { required: true, content: json(z.object({ person: address })) },
    async handle({ key, actor, params, body, deps }) {
      const now = deps.now()
      const input = { project: key.project, uuid: params.swap, now }
      if (!(await findSwap(deps.db, key.project.id, params.swap))) throw new NotFoundError('')
      const person = readPerson(body.person, 'person')
      refuseUnknown(body, '', ['person', 'api_key'])
      return swapView(await takeSwap(deps.db, actor, { ...input, person }), now)
    },
  }),
  write({
    ...common,
    path: '/api/v3/on-call/swaps/{swap}/release',
    operationId: 'releaseSwap',
    summary: 'Give a taken swap back before its start',
    params: { swap: swapParam },
    async handle({ key, actor, params, deps }) {
      const now = deps.now()
      return swapView(await releaseSwap(deps.db, actor, { project: key.project, uuid: params.swap, now }), now)
    },
  }),
  write({
    ...common,
    path: '/api/v3/on-call/swaps/{swap}/cancel',
    operationId: 'cancelSwap',
    summary: 'Cancel an open or taken swap',
    params: { swap: swapParam },
    async handle({ key, actor, params, deps }) {
      const now = deps.now()
      return swapView(await cancelSwap(deps.db, actor, { project: key.project, uuid: params.swap, now }), now)
    },
  }),
]

function swapView(swap: StoredSwap, now: Micros) {
  const { uuid, scheduleUuid, requester, offeredTo, taker, time, back, note } = swap
  const shown = ({ from, until }: { from: Micros; until: Micros }) => ({
    start: toIsoSeconds(from),
    end: toIsoSeconds(until),
  })
  return {
    id: uuid,
    schedule: scheduleUuid,
    state: shownSwapState(swap, now),
    from: requester,
    to: offeredTo,
    taker,
    ...shown(time),
    back: back && shown(back),
    note,
  }
}
