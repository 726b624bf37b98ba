import { z } from 'zod'
import { ValidationError } from '#shared/errors.ts'
import { PendingSchema } from '#shared/jobs/job.ts'
import { parseWith } from '#shared/parse-with.ts'
import { AcceptanceSchema, AdjustmentSchema } from '#shared/risk/acceptance/acceptance.ts'
import { AntiDilutionSchema } from '#shared/risk/acceptance/anti-dilution.ts'
import { DilutionQuery } from '#shared/risk/acceptance/dilution-query.ts'
import { TimelineSchema } from '#shared/risk/acceptance/timeline.ts'
import { LeiAnswerSchema } from '#shared/risk/businesses/lei-answer.ts'
import { LeiResolveBody, VerificationSchema } from '#shared/risk/businesses/requests.ts'
import { readAcceptance, readTimeline, runDilution } from '#shared/risk/operations/acceptance-requests.ts'
import { runEntityVerification, runLeiResolution } from '#shared/risk/operations/business-requests.ts'
import { contextOf, runEvidenceJob, spending } from '../evidence-job.ts'
import { defineTool, IDEMPOTENT, listedMembers, markCallers, READ_ONLY, UntrustedSchema, untrusted } from '../tool.ts'

const VerificationAnswer = z.union([VerificationSchema, PendingSchema])

export const entityVerify = defineTool({
  name: 'entity_verify',
  title: 'Verify a business again',
  description:
    'Queries the registries again about an entity of the organisation, by its verified entity identifier. What a ' +
    'registry does not answer is MISSING with a reason. One metered unit.',
  scope: 'kyb:read',
  annotations: IDEMPOTENT,
  input: z.strictObject({ vei: z.string(), idempotencyKey: z.string().optional() }),
  output: VerificationAnswer,
  run: ({ vei, idempotencyKey }, call) =>
    // The route of the API names the entity in its path, and its body is empty.
    runEvidenceJob(
      call,
      {
        ...{ route: `/mcp/entity_verify/${vei.slice(0, 300)}`, family: 'kyb', idempotencyKey, args: {} },
        answer: VerificationAnswer,
      },
      (context, admit) => runEntityVerification(context, vei, admit),
    ),
})

const LeiAnswer = z.union([LeiAnswerSchema, PendingSchema])
/** Texts of the register are untrusted; the rest are identifiers, dates and codes. */
const written = (text: string | null) => (text === null ? null : untrusted('GLEIF', text))
const Written = UntrustedSchema.nullable()

export const leiResolve = defineTool({
  name: 'lei_resolve',
  title: 'Find a legal entity identifier',
  description:
    'The record of a company by its number or name in the register of legal entity identifiers, with how it was matched ' +
    'and how similar the name is. None found is null with a reason. One metered unit when found.',
  scope: 'kyb:read',
  annotations: IDEMPOTENT,
  input: z.strictObject({ idempotencyKey: z.string().optional(), ...listedMembers(LeiResolveBody.shape) }),
  output: z.union([
    LeiAnswerSchema.extend({
      ...{ legalName: Written, entityStatus: Written, registrationStatus: Written, registeredAs: Written },
    }),
    PendingSchema,
  ]),
  async run({ idempotencyKey, ...args }, call) {
    const body = parseWith(LeiResolveBody, args, 'the arguments')
    const answer = await runEvidenceJob(
      call,
      { route: '/v1/kyb/lei/resolve', family: 'kyb', idempotencyKey, args, answer: LeiAnswer },
      (context, admit) => runLeiResolution(context, body, admit),
    )
    if (!('lei' in answer)) return answer
    if (answer.lei === null) call.units = 0 // a record that is not found is not metered
    return {
      ...answer,
      legalName: written(answer.legalName),
      entityStatus: written(answer.entityStatus),
      registrationStatus: written(answer.registrationStatus),
      registeredAs: written(answer.registeredAs),
    }
  },
})

const ownReference = { receivableRef: UntrustedSchema }
const RecordAnswer = AcceptanceSchema.extend(ownReference)
const AcceptanceAnswer = z.union([
  TimelineSchema.extend({
    ...ownReference,
    records: z.array(RecordAnswer),
    adjustments: z.array(AdjustmentSchema.extend(ownReference)),
  }),
  RecordAnswer,
  PendingSchema,
])

export const acceptanceGet = defineTool({
  name: 'acceptance_get',
  title: 'Read what a buyer accepted',
  description:
    'What a buyer is recorded to have accepted or rejected of a receivable, with evidence tiers and anchors: by ' +
    'receivableRef everything that is recorded of it and what it comes to, by acceptanceId one record.',
  scope: 'acceptance:read',
  annotations: READ_ONLY,
  input: z.strictObject({
    receivableRef: z.string().optional().describe('the organisation’s own reference'),
    acceptanceId: z.string().optional().describe('id of one record, in place of receivableRef'),
  }),
  output: AcceptanceAnswer,
  async run({ receivableRef, acceptanceId }, { caller, deps }) {
    if ((receivableRef === undefined) === (acceptanceId === undefined)) {
      const message = 'exactly one of receivableRef and acceptanceId is required'
      throw new ValidationError(message, [{ path: 'receivableRef', code: 'REQUIRED', message }])
    }
    if (acceptanceId !== undefined) {
      return AcceptanceAnswer.parse(markCallers(JSON.parse((await readAcceptance(deps, caller, acceptanceId)).body)))
    }
    return AcceptanceAnswer.parse(markCallers(await readTimeline(deps, caller, receivableRef ?? '')))
  },
})

const DilutionAnswer = z.union([AntiDilutionSchema, PendingSchema])

export const antiDilutionGet = defineTool({
  name: 'anti_dilution_get',
  title: 'Measure dilution: the share of invoices taken back by credit notes',
  description:
    'Credit notes and rejections of a supplier and buyer, from the supplier’s return and the organisation’s own records, ' +
    'measured once per pair and Indian day, which is one metered unit. Ratios are null below nine known months.',
  scope: 'risk-signals:read',
  annotations: READ_ONLY,
  input: z.strictObject({ ...listedMembers(DilutionQuery.shape), idempotencyKey: z.string().optional() }),
  output: DilutionAnswer,
  // Ignores a given key: the pair and the day are the key.
  async run({ idempotencyKey: _, ...args }, call) {
    const query = parseWith(DilutionQuery, args, 'the arguments')
    const answer = await spending(call, 'risk-signals', (admit) => runDilution(contextOf(call), query, admit))
    return DilutionAnswer.parse(JSON.parse(answer.body))
  },
})
