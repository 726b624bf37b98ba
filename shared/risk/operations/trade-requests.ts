import type { z } from 'zod'
import { provenanceRequested } from '../../contracts/worker-messages.ts'
import { type BeforeJob, type JobContext, runJob } from '../../jobs/operations/jobs.ts'
import type { StoredAnswer } from '../../tenancy/idempotency/store.ts'
import type { TradePackBody, TradeRequest } from '../trade/requests.ts'

export const TRADE_PACKS = '/v1/trade/packs'
export const TRADE_VERIFICATIONS = '/v1/trade/verifications'

export async function runTradePack(
  context: JobContext,
  request: z.output<typeof TradePackBody>,
  before?: BeforeJob,
): Promise<StoredAnswer> {
  return await runJob(context, {
    kind: 'trade.pack',
    message: provenanceRequested,
    folder: TRADE_PACKS,
    request,
    before,
  })
}

export async function runTradeVerification(
  context: JobContext,
  request: TradeRequest,
  before?: BeforeJob,
): Promise<StoredAnswer> {
  const folder = TRADE_VERIFICATIONS
  return await runJob(context, { kind: 'trade.verification', message: provenanceRequested, folder, request, before })
}
