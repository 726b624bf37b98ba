import { z } from 'zod'
import { PackFailedError } from '#shared/risk/packs/pack-failed-error.ts'
import type { PackOutcome } from '#shared/risk/packs/store.ts'
import { Answer, jsonAnswer } from '../answer.ts'

export const PACKS_PATH = '/v1/po/risk-signals/packs'

/** The answer while a pack is not finished. */
export const PendingPackSchema = z
  .object({
    packId: z.uuid(),
    status: z.enum(['QUEUED', 'COMPOSING']),
    links: z.object({ self: z.string(), evidence: z.string() }),
  })
  .meta({ id: 'PendingPack' })

export function pendingAnswer(packId: string): Answer {
  const self = `${PACKS_PATH}/${packId}`
  const body = { packId, status: 'QUEUED', links: { self, evidence: `${self}/evidence` } }
  return jsonAnswer(202, body, { Location: self, 'Retry-After': '1' })
}

/** 200 with the bytes that were stored, 202 while it is not finished. @throws PackFailedError */
export function packAnswer(packId: string, outcome: PackOutcome): Answer {
  if (outcome.state === 'FAILED') throw new PackFailedError()
  return outcome.body === null ? pendingAnswer(packId) : new Answer(200, outcome.body)
}
