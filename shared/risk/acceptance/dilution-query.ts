import { z } from 'zod'
import { gstin } from '../evidence/values.ts'
import { checkParties } from '../first-financing/receivable.ts'

export const DilutionQuery = z
  .strictObject({
    supplierGstin: gstin,
    buyerGstin: gstin,
    gstConsent: z
      .string()
      .regex(/^[!-~]{1,200}$/, 'must be 1 to 200 visible ASCII characters')
      .optional()
      .meta({ description: 'handle of the supplier’s consent' }),
  })
  .superRefine(checkParties)
