import { z } from 'zod'
import { CheckBody, RegistrationRequestBody } from '#shared/risk/first-financing/requests.ts'
import { askCheck, CHECKS } from '../../risk/first-financing/checks.ts'
import { askRegistration, REGISTRATIONS } from '../../risk/first-financing/registrations.ts'
import { parseWith } from '../../risk/json-body.ts'
import { askEvidence, EvidenceSchema } from '../ask-evidence.ts'
import { defineTool, IDEMPOTENT } from '../tool.ts'

// Identifiers are plain strings, and unknown members pass here: the rules of the API answer, not this schema.
const Receivable = z.looseObject({
  idempotencyKey: z.string(),
  supplierGstin: z.string(),
  buyerGstin: z.string(),
  documentNumber: z.string(),
  documentDate: z.string().describe('YYYY-MM-DD'),
})

export const firstFinancingCheck = defineTool({
  name: 'first_financing_check',
  title: 'Ask whether a receivable is financed elsewhere',
  description:
    'Says whether a receivable is registered or financed by another organisation: that something exists, never who, how ' +
    'much or on which day. What is not ready within ten seconds has status QUEUED. One metered unit.',
  scope: 'first-financing:check',
  annotations: IDEMPOTENT,
  input: Receivable.extend({ idempotencyKey: z.string().optional() }),
  output: EvidenceSchema,
  async run({ idempotencyKey, ...args }, call) {
    const body = parseWith(CheckBody, args, 'the arguments')
    return await askEvidence(
      call,
      { route: CHECKS, family: 'first-financing', idempotencyKey, args },
      (context, admit) => askCheck(context, body, admit),
    )
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
  output: EvidenceSchema,
  async run({ idempotencyKey, ...args }, call) {
    const body = parseWith(RegistrationRequestBody, args, 'the arguments')
    return await askEvidence(
      call,
      { route: REGISTRATIONS, family: 'first-financing', idempotencyKey, args },
      (context, admit) => askRegistration(context, body, admit),
    )
  },
})
