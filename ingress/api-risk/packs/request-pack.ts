import { awaitPack, PACK_REQUESTS, readPackRequest, requestPack } from '#shared/risk/operations/packs.ts'
import { PackSchema } from '#shared/risk/packs/pack-schema.ts'
import { packRequestSchema } from '#shared/risk/packs/request.ts'
import { problemResponses } from '../../problem-responses.ts'
import { withScope } from '../access.ts'
import { write } from '../risk-route.ts'
import { PendingPackSchema } from './read-packs.ts'

export const requestPackRoute = write({
  path: PACK_REQUESTS,
  operationId: 'requestPack',
  summary: 'Request a Risk Signals Pack',
  description:
    'Stores a job and waits for its pack: 10 seconds by default, up to 25 seconds with `Prefer: wait=N`, not at all with `Prefer: respond-async`. If the pack is not ready by then, the answer is 202 and you can poll for it.',
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
  async perform({ body, ...job }) {
    const { packId, replay } = await requestPack(job.caller.actor, job, body)
    return replay ?? (await awaitPack(job, packId))
  },
})
