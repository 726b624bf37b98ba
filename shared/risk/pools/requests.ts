import { z } from 'zod'
import { checkDueDate, dueDay, line, pastDay } from '../evidence/values.ts'
import { checkReceivable, receivableShape } from '../first-financing/receivable.ts'
import { EligibilityRules } from './eligibility.ts'

export const MAX_POOL = 50_000
const MAX_ITEMS = 1_000

const { totalInr, ...document } = receivableShape

/** `receivableId` is the organisation's own reference. */
const PoolItem = z
  .strictObject({
    receivableId: line(100),
    ...document,
    amountInr: totalInr,
    currency: z.literal('INR').default('INR'),
    issueDate: pastDay.optional(),
    dueDate: dueDay.optional(),
  })
  .superRefine(checkReceivable)
  .superRefine(checkDueDate)
  .meta({ id: 'PoolItem' })

export type PoolItem = z.output<typeof PoolItem>

export const PoolBody = z.strictObject({
  name: line(),
  dealId: line(100).optional(),
  currency: z.literal('INR').default('INR'),
  receivables: z.array(PoolItem).max(MAX_ITEMS).default([]),
})

export const PoolItemsBody = z.strictObject({ receivables: z.array(PoolItem).min(1).max(MAX_ITEMS) })

export const CutBody = z.strictObject({ cutOffDate: pastDay })

export const EligibilityBody = z.strictObject({
  rules: EligibilityRules,
  cut: z.string().max(100).optional().meta({ description: 'cutRecordId of a cut; default: the newest' }),
})
