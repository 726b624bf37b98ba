import { randomUUID } from 'node:crypto'
import { packRequested } from '#shared/contracts/pack-requested.ts'
import { ForbiddenError } from '#shared/errors.ts'
import { PackSchema } from '#shared/risk/packs/pack-schema.ts'
import { isModeAllowed, type PackRequest, packRequestSchema, parsePackRequest } from '#shared/risk/packs/request.ts'
import { findPack, insertPack } from '#shared/risk/packs/store.ts'
import {
  type KeyScope,
  leaseKey,
  type StoredAnswer,
  settleKey,
  storeAnswer,
} from '#shared/tenancy/idempotency/store.ts'
import type { IngressDeps } from '../../deps.ts'
import { withScope } from '../access.ts'
import type { Caller } from '../authenticate.ts'
import { problemResponses } from '../documents.ts'
import { findReplay, type Once } from '../idempotency.ts'
import { validationError } from '../json-body.ts'
import { readPreference } from '../prefer.ts'
import { write } from '../risk-route.ts'
import { PendingPackSchema, packAnswer, pendingAnswer } from './pack-answer.ts'

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
  async perform({ caller, body: asked, once, deps, request, setHeader }) {
    const { waitMs, applied } = readPreference(request.headers.prefer)
    if (applied !== null) setHeader('Preference-Applied', applied)
    const packId = randomUUID()
    const replay = await storeJob(deps, { packId, caller, ...once, asked, isAsync: waitMs === 0 })
    if (replay) return replay
    if (waitMs === 0) return pendingAnswer(packId)
    return await waitForPack(deps, caller, once.scope, packId, waitMs)
  },
})

/** @throws ValidationError; ForbiddenError when the mode is not the one of the token's environment */
function readPackRequest(body: unknown, caller: Caller): PackRequest {
  const parsed = parsePackRequest(body, { sandboxRegistrations: caller.env === 'SANDBOX' })
  if (!parsed.ok) throw validationError(parsed.errors)
  if (!isModeAllowed(parsed.request.mode, caller.env)) {
    throw new ForbiddenError(`mode ${parsed.request.mode} is not permitted with a ${caller.env} token`)
  }
  return parsed.request
}

/** A pack to be composed, asked for through the API or on a page. */
export interface PackJobRequest extends Once {
  packId: string
  caller: Pick<Caller, 'organisationId' | 'env'>
  asked: PackRequest
  isAsync: boolean
}

/** Job, idempotency key and message commit together. @returns the stored answer of an equal request before */
export async function storeJob(deps: IngressDeps, job: PackJobRequest): Promise<StoredAnswer | undefined> {
  const { packId, caller, scope, asked, fingerprint } = job
  const sealedRequest = deps.secrets.seal(JSON.stringify(asked))
  const { replyTo } = deps.risk.packReplies
  return await deps.outbox.run(async (tx, enqueue) => {
    const replay = await findReplay(tx, scope, fingerprint)
    if (replay) return replay
    await insertPack(tx, {
      id: packId,
      organisationId: caller.organisationId,
      env: caller.env,
      idempotencyKey: scope.key,
      sealedRequest,
      dealId: asked.dealId ?? null,
    })
    const provisional = pendingAnswer(packId)
    if (job.isAsync) await storeAnswer(tx, scope, fingerprint, provisional)
    else await leaseKey(tx, scope, fingerprint, provisional)
    await enqueue(packRequested, job.isAsync ? { packId } : { packId, replyTo })
    return undefined
  })
}

/** How often we look ourselves, should the composer's reply be lost. */
const LOOK_EVERY_MS = 1_000

/**
 * Waits for the composer, which also stores the pack as the answer under the key. At the deadline the 202 becomes the
 * answer, unless the composer was faster: only one of them can be, so a repetition gets the same bytes.
 */
async function waitForPack(
  deps: IngressDeps,
  caller: Caller,
  scope: KeyScope,
  packId: string,
  waitMs: number,
): Promise<StoredAnswer> {
  const { packReplies } = deps.risk
  const deadline = performance.now() + waitMs
  for (;;) {
    const left = deadline - performance.now()
    await packReplies.wait(packId, Math.max(0, Math.min(left, LOOK_EVERY_MS)))
    const outcome = await findPack(deps.db, caller, packId)
    if (outcome && outcome.state !== 'QUEUED') return packAnswer(packId, outcome)
    if (performance.now() < deadline) continue
    if (await settleKey(deps.db, scope)) return pendingAnswer(packId)
    const finished = await findPack(deps.db, caller, packId)
    return finished ? packAnswer(packId, finished) : pendingAnswer(packId)
  }
}
