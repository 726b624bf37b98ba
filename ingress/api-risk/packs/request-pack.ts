import { randomUUID } from 'node:crypto'
import { ForbiddenError, validationError } from '#shared/errors.ts'
import { awaitPack, requestPack } from '#shared/risk/operations/packs.ts'
import { PackSchema } from '#shared/risk/packs/pack-schema.ts'
import { isModeAllowed, type PackRequest, packRequestSchema, parsePackRequest } from '#shared/risk/packs/request.ts'
import type { Caller } from '../../middleware/access-token.ts'
import { problemResponses } from '../../problem-responses.ts'
import { withScope } from '../access.ts'
import { readPreference } from '../path-params.ts'
import { write } from '../risk-route.ts'
import { PendingPackSchema, packAnswer, pendingAnswer } from './read-packs.ts'

export const requestPackRoute = write({
  path: '/v1/po/risk-signals',
  operationId: 'requestPack',
  summary: 'Request a Risk Signals Pack',
  description:
    'Stores a job and waits for its pack: 10 seconds, or as `Prefer: wait=N` says (at most 25), or not at all with ' +
    '`Prefer: respond-async`. What is not finished then is answered with 202 and can be polled.',
  tags: ['Risk signals'],
  access: withScope('risk-signals:run'),
  params: {},
  body: packRequestSchema(),
  responses: {
    200: { description: 'The pack', content: { 'application/json': PackSchema.meta({ id: 'RiskSignalsPack' }) } },
    202: {
      description: 'The pack is being composed',
      content: { 'application/json': PendingPackSchema },
      headers: { Location: 'where to poll', 'Retry-After': 'seconds' },
    },
    ...problemResponses(400, 401, 403, 409, 413, 415, 422, 429, 500, 503),
  },
  parse: readPackRequest,
  async perform({ caller, body: requested, once, deps, request, setHeader }) {
    const { waitMs, applied } = readPreference(request.headers.prefer)
    if (applied !== null) setHeader('Preference-Applied', applied)
    const packId = randomUUID()
    const { replies } = deps
    const provisional = pendingAnswer(packId)
    const replyTo = waitMs === 0 ? null : replies.replyTo
    const job = { ...once, packId, owner: caller, requested, provisional, replyTo }
    const replay = await requestPack(caller.actor, job, deps)
    if (replay) return replay
    if (waitMs === 0) return provisional
    const outcome = await awaitPack(deps.db, job, waitMs, replies.wait)
    return outcome === null ? provisional : packAnswer(packId, outcome)
  },
})

/** @throws ValidationError; ForbiddenError when the mode is not the one of the token's environment */
export function readPackRequest(body: unknown, caller: Pick<Caller, 'env'>): PackRequest {
  const parsed = parsePackRequest(body, { sandboxRegistrations: caller.env === 'SANDBOX' })
  if (!parsed.ok) throw validationError(parsed.errors)
  if (!isModeAllowed(parsed.request.mode, caller.env)) {
    throw new ForbiddenError(`mode ${parsed.request.mode} is not permitted with a ${caller.env} token`)
  }
  return parsed.request
}
