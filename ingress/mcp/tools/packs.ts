import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { awaitPack, PACK_REQUESTS, readPackRequest, requestPack } from '#shared/risk/operations/packs.ts'
import { PackFailedError } from '#shared/risk/packs/pack-failed-error.ts'
import { type Pack, PackSchema } from '#shared/risk/packs/pack-schema.ts'
import { packRequestSchema } from '#shared/risk/packs/request.ts'
import { findPack } from '#shared/risk/packs/store.ts'
import { isUuid } from '#shared/uuid.ts'
import type { IngressDeps } from '../../deps.ts'
import type { AgentCaller } from '../caller.ts'
import { contextOf, spending } from '../evidence-job.ts'
import { idempotentRequest } from '../idempotent.ts'
import { defineTool, IDEMPOTENT, listedMembers, READ_ONLY, UntrustedSchema, untrusted } from '../tool.ts'

const { signals } = PackSchema.shape
const { doubleFinancing } = signals.shape
const { cersai } = doubleFinancing.shape
/** A charge with the register's texts marked. */
const MarkedCharge = cersai.shape.activeCharges.unwrap().element.extend({
  securityInterestId: UntrustedSchema,
  assetCategory: UntrustedSchema,
  chargeHolderType: UntrustedSchema,
})
const MarkedCersai = cersai.extend({ activeCharges: z.array(MarkedCharge).nullable() })
const PackView = z.union([
  PackSchema.extend({
    status: z.literal('READY'),
    signals: signals.extend({ doubleFinancing: doubleFinancing.extend({ cersai: MarkedCersai }) }),
  }),
  z.strictObject({ packId: z.string(), status: z.literal('QUEUED') }),
])

/**
 * Returns a pack of the caller with the registry's texts marked.
 * @throws NotFoundError alike for an unknown pack and for one of another organisation; PackFailedError
 */
export async function packOf(
  packId: string,
  caller: AgentCaller,
  deps: Pick<IngressDeps, 'db'>,
): Promise<z.infer<typeof PackView>> {
  const outcome = isUuid(packId) ? await findPack(deps.db, caller, packId) : undefined
  if (!outcome) throw new NotFoundError('pack not found')
  if (outcome.state === 'FAILED') throw new PackFailedError()
  if (outcome.body === null) return { packId, status: 'QUEUED' }
  return { status: 'READY', ...markedPack(JSON.parse(outcome.body)) }
}

/** The texts of the security interest register are the only untrusted texts of a pack. */
function markedPack(pack: Pack) {
  const { doubleFinancing } = pack.signals
  const { cersai } = doubleFinancing
  const activeCharges = cersai.activeCharges?.map((charge) => ({
    ...charge,
    securityInterestId: untrusted('CERSAI', charge.securityInterestId),
    assetCategory: untrusted('CERSAI', charge.assetCategory),
    chargeHolderType: untrusted('CERSAI', charge.chargeHolderType),
  }))
  const marked = { ...doubleFinancing, cersai: { ...cersai, activeCharges: activeCharges ?? null } }
  return { ...pack, signals: { ...pack.signals, doubleFinancing: marked } }
}

export const riskSignalsRun = defineTool({
  name: 'risk_signals_run',
  title: 'Compose a risk signals pack',
  description:
    'Queries registries about a purchase order between a buyer, a borrower and a subcontractor, and waits up to ' +
    'ten seconds; what is not ready then has status QUEUED, and risk_signals_get reads it. One metered unit. The same ' +
    'idempotencyKey again gives the same pack. With a sandbox key mode is DEMO, with a live key LIVE.',
  scope: 'risk-signals:run',
  annotations: IDEMPOTENT,
  input: z.strictObject({ idempotencyKey: z.string(), ...listedMembers(packRequestSchema().shape) }),
  output: PackView,
  async run({ idempotencyKey, ...body }, call) {
    const { caller, deps } = call
    const requested = readPackRequest(body, caller)
    // The fingerprint equals that of the POST with the same key and body, because tools and API share the keys.
    const once = idempotentRequest(caller, PACK_REQUESTS, idempotencyKey, body)
    const job = { ...contextOf(call), once }
    const { packId, replay } = await spending(call, 'risk-signals', (admit) =>
      requestPack(caller.actor, job, requested, admit),
    )
    if (replay) return await packOf(JSON.parse(replay.body).packId, caller, deps)
    await awaitPack(job, packId)
    return await packOf(packId, caller, deps)
  },
})

export const riskSignalsGet = defineTool({
  name: 'risk_signals_get',
  title: 'Read a risk signals pack',
  description:
    'A pack of the organisation by its packId: signals with their evidence tiers, flags and anchor. While it is being ' +
    'composed its status is QUEUED.',
  scope: 'risk-signals:read',
  annotations: READ_ONLY,
  input: z.strictObject({ packId: z.string() }),
  output: PackView,
  run: ({ packId }, { caller, deps }) => packOf(packId, caller, deps),
})
