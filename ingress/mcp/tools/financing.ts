import { z } from 'zod'
import { PendingSchema } from '#shared/jobs/job.ts'
import { parseWith } from '#shared/parse-with.ts'
import {
  BlindCheckBody,
  BlindRegistrationBody,
  CheckBody,
  RegistrationRequestBody,
} from '#shared/risk/first-financing/requests.ts'
import { CheckSchema, RegistrationSchema } from '#shared/risk/first-financing/view.ts'
import {
  CHECKS,
  REGISTRATIONS,
  runFinancingCheck,
  runRegistration,
} from '#shared/risk/operations/financing-requests.ts'
import { runEvidenceJob } from '../evidence-job.ts'
import { defineTool, IDEMPOTENT, type ListedMember, listedMembers, UntrustedSchema } from '../tool.ts'

const CheckArguments = z.union([CheckBody, BlindCheckBody])
const RegistrationArguments = z.union([RegistrationRequestBody, BlindRegistrationBody])

/**
 * Lists the members of both forms: a receivable by its fields, or by fingerprints that hide them. Only common members
 * are required, because model providers refuse `oneOf` at the top of a schema.
 */
function eitherForm<Fields extends z.ZodRawShape, Blind extends z.ZodRawShape>(byFields: Fields, blind: Blind) {
  const [first = '', ...others] = requiredOf(byFields)
  const members = Object.entries(listedMembers({ ...byFields, ...blind })).map(([name, member]) => {
    if (name === 'fingerprints') return [name, member.optional().describe('in place of the fields of the receivable')]
    if (name !== first && !others.includes(name)) return [name, member]
    const description = [member.description, 'required without fingerprints'].filter(Boolean).join('; ')
    return [name, member.optional().describe(description)]
  })
  return {
    // Object.fromEntries does not keep the names in its type.
    members: Object.fromEntries(members) as { [Name in keyof (Fields & Blind)]: ListedMember },
    together: { dependentRequired: { [first]: others } },
  }
}

function requiredOf(shape: z.ZodRawShape): string[] {
  return z.toJSONSchema(z.object(shape), { io: 'input' }).required ?? []
}

const check = eitherForm(CheckBody.shape, BlindCheckBody.shape)
const CheckAnswer = z.union([CheckSchema, PendingSchema])

export const firstFinancingCheck = defineTool({
  name: 'first_financing_check',
  title: 'Check if a receivable is financed elsewhere',
  description:
    'Reports if a receivable is registered or financed by another organisation: that a record exists, never who, how ' +
    'much or on which day. What is not ready within ten seconds has status QUEUED. One metered unit.',
  scope: 'first-financing:check',
  annotations: IDEMPOTENT,
  input: z.strictObject({ idempotencyKey: z.string().optional(), ...check.members }).meta(check.together),
  output: CheckAnswer,
  async run({ idempotencyKey, ...args }, call) {
    const body = parseWith(CheckArguments, args, 'the arguments')
    return await runEvidenceJob(
      call,
      { route: CHECKS, family: 'first-financing', idempotencyKey, args, answer: CheckAnswer },
      (context, admit) => runFinancingCheck(context, body, admit),
    )
  },
})

const registration = eitherForm(RegistrationRequestBody.shape, BlindRegistrationBody.shape)
const RegistrationAnswer = z.union([RegistrationSchema.extend({ dealId: UntrustedSchema.nullable() }), PendingSchema])

export const firstFinancingRegister = defineTool({
  name: 'first_financing_register',
  title: 'Register a receivable',
  description:
    'Registers a receivable for its first holder; a registration lasts seven days unless it is financed. A later request ' +
    'reports that a duplicate exists. The same idempotencyKey again has the same answer. One metered unit.',
  scope: 'first-financing:register',
  annotations: IDEMPOTENT,
  input: z.strictObject({ idempotencyKey: z.string(), ...registration.members }).meta(registration.together),
  output: RegistrationAnswer,
  async run({ idempotencyKey, ...args }, call) {
    const body = parseWith(RegistrationArguments, args, 'the arguments')
    return await runEvidenceJob(
      call,
      { route: REGISTRATIONS, family: 'first-financing', idempotencyKey, args, answer: RegistrationAnswer },
      (context, admit) => runRegistration(context, body, admit),
    )
  },
})
