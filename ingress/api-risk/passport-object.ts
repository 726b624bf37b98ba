import { z } from 'zod'
import { AnchoredObject } from '#shared/risk/evidence/values.ts'

/** A passport, of a person or of a business: the record, the same as credential, and what revoked it. */
export const passportObject = z.object({
  passportId: z.uuid(),
  record: AnchoredObject,
  credential: z.string(),
  revocation: AnchoredObject.nullable(),
})
