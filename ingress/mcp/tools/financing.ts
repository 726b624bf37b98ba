import type { Knex } from 'knex'
import { z } from 'zod'
import { CheckBody, RegistrationRequestBody } from '#shared/risk/first-financing/requests.ts'
import { announceExhausted, BudgetExhaustedError, spendBudget } from '#shared/risk/operations/spend-budget.ts'
import type { StoredAnswer } from '#shared/tenancy/idempotency/store.ts'
import { toSeconds } from '#shared/time.ts'
import type { AskContext } from '../../risk/evidence-job.ts'
import { askCheck, CHECKS } from '../../risk/first-financing/checks.ts'
import { askRegistration, REGISTRATIONS } from '../../risk/first-financing/registrations.ts'
import { parseWith } from '../../risk/json-body.ts'
import { onceFor } from '../once.ts'
import { defineTool, IDEMPOTENT, type ToolCall } from '../tool.ts'

// Identifiers are plain strings, and unknown members pass here: the rules of the API answer, not this schema.
const Receivable = z.looseObject({
  idempotencyKey: z.string(),
  supplierGstin: z.string(),
  buyerGstin: z.string(),
  documentNumber: z.string(),
  documentDate: z.string().describe('YYYY-MM-DD'),
})

/** What the API answers: ids, codes, dates, tiers and hashes, and no text of others. */
const Evidence = z.looseObject({ status: z.string().optional(), state: z.string().optional() })

export const firstFinancingCheck = defineTool({
  name: 'first_financing_check',
  title: 'Ask whether a receivable is financed elsewhere',
  description:
    'Says whether a receivable is registered or financed by another organisation: that something exists, never who, how ' +
    'much or on which day. What is not ready within ten seconds has status QUEUED. One metered unit.',
  scope: 'first-financing:check',
  annotations: IDEMPOTENT,
  input: Receivable,
  output: Evidence,
  async run({ idempotencyKey, ...args }, call) {
    const body = parseWith(CheckBody, args, 'the arguments')
    return await ask(call, CHECKS, idempotencyKey, args, (context, admit) => askCheck(context, body, admit))
  },
})

export const firstFinancingRegister = defineTool({
  name: 'first_financing_register',
  title: 'Register a receivable',
  description:
    'Registers a receivable for its first holder; a registration holds for seven days until it is financed. Who comes ' +
    'second is told that a duplicate exists. The same idempotencyKey again has the same answer. One metered unit.',
  scope: 'first-financing:register',
  annotations: IDEMPOTENT,
  input: Receivable,
  output: Evidence,
  async run({ idempotencyKey, ...args }, call) {
    const body = parseWith(RegistrationRequestBody, args, 'the arguments')
    return await ask(call, REGISTRATIONS, idempotencyKey, args, (context, admit) =>
      askRegistration(context, body, admit),
    )
  },
})

/** Asks as the POST at `route` with the same key and body would; a new question costs a unit of the key's budget. */
async function ask(
  call: ToolCall,
  route: string,
  idempotencyKey: string,
  args: Record<string, unknown>,
  work: (context: AskContext, admit: (tx: Knex.Transaction) => Promise<void>) => Promise<StoredAnswer>,
): Promise<z.infer<typeof Evidence>> {
  const { caller, deps } = call
  const now = toSeconds(deps.now())
  const once = onceFor(caller, route, idempotencyKey, args)
  const context: AskContext = { caller, deps, request: { headers: {} }, setHeader: () => {}, once }
  let isNew = false
  try {
    const answer = await work(context, async (tx) => {
      await spendBudget(tx, caller, 'first-financing', now)
      isNew = true
    })
    if (isNew) call.units = 1
    return JSON.parse(answer.body)
  } catch (error) {
    if (error instanceof BudgetExhaustedError) await announceExhausted(deps, caller, error.family, now)
    throw error
  }
}
