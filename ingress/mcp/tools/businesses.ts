import { z } from 'zod'
import { ValidationError } from '#shared/errors.ts'
import { LeiResolveBody } from '#shared/risk/businesses/requests.ts'
import { askDilution, DilutionQuery, readAcceptance } from '../../risk/acceptance/routes.ts'
import { readTimeline } from '../../risk/acceptance/timeline.ts'
import { parseWith } from '../../risk/json-body.ts'
import { askEntity, askLei } from '../../risk/kyb/verifications.ts'
import { askEvidence, contextOf, EvidenceSchema, spending } from '../ask-evidence.ts'
import { defineTool, IDEMPOTENT, READ_ONLY } from '../tool.ts'
import { markCallers, UntrustedSchema, untrusted } from '../untrusted.ts'

export const entityVerify = defineTool({
  name: 'entity_verify',
  title: 'Verify a business once more',
  description:
    'Asks the registries again about an entity that the organisation holds, by its verified entity identifier. What a ' +
    'registry does not answer is MISSING with a reason. One metered unit.',
  scope: 'kyb:read',
  annotations: IDEMPOTENT,
  input: z.object({ vei: z.string(), idempotencyKey: z.string().optional() }),
  output: EvidenceSchema,
  run: ({ vei, idempotencyKey }, call) =>
    // The route of the API names the entity in its path, and its body is empty.
    askEvidence(
      call,
      { route: `/mcp/entity_verify/${vei.slice(0, 300)}`, family: 'kyb', idempotencyKey, args: {} },
      (context, admit) => askEntity(context, vei, admit),
    ),
})

const WRITTEN = ['legalName', 'entityStatus', 'registrationStatus', 'registeredAs'] as const

export const leiResolve = defineTool({
  name: 'lei_resolve',
  title: 'Find a legal entity identifier',
  description:
    'The record of a company by its number or name in the register of legal entity identifiers, with how it was matched ' +
    'and how similar the name is. None found is null with a reason. One metered unit when found.',
  scope: 'kyb:read',
  annotations: IDEMPOTENT,
  input: z.looseObject({
    idempotencyKey: z.string().optional(),
    cin: z.string().optional(),
    legalName: z.string().optional(),
  }),
  output: z.looseObject(Object.fromEntries(WRITTEN.map((name) => [name, UntrustedSchema.nullable().optional()]))),
  async run({ idempotencyKey, ...args }, call) {
    const body = parseWith(LeiResolveBody, args, 'the arguments')
    const question = { route: '/v1/kyb/lei/resolve', family: 'kyb', idempotencyKey, args } as const
    const answer = await askEvidence(call, question, (context, admit) => askLei(context, body, admit))
    if (answer.lei === null) call.units = 0 // a record that is not found is not metered
    // The register's own words are outside text; the rest are identifiers, dates and codes of ours.
    const marked = WRITTEN.flatMap((name) => {
      const text = answer[name]
      return typeof text === 'string' ? [[name, untrusted('GLEIF', text)]] : []
    })
    return { ...answer, ...Object.fromEntries(marked) }
  },
})

export const acceptanceGet = defineTool({
  name: 'acceptance_get',
  title: 'Read what a buyer accepted',
  description:
    'What a buyer is recorded to have accepted or rejected of a receivable, with evidence tiers and anchors: by ' +
    'receivableRef everything that is recorded of it and what it comes to, by acceptanceId one record.',
  scope: 'acceptance:read',
  annotations: READ_ONLY,
  input: z.object({
    receivableRef: z.string().optional().describe('the organisation’s own reference'),
    acceptanceId: z.string().optional().describe('id of one record, in place of receivableRef'),
  }),
  output: EvidenceSchema,
  async run({ receivableRef, acceptanceId }, { caller, deps }) {
    if ((receivableRef === undefined) === (acceptanceId === undefined)) {
      const message = 'either receivableRef or acceptanceId says what to read'
      throw new ValidationError(message, [{ path: 'receivableRef', code: 'REQUIRED', message }])
    }
    if (acceptanceId !== undefined) {
      return markCallers(JSON.parse((await readAcceptance(deps, caller, acceptanceId)).body))
    }
    return markCallers(await readTimeline(deps, caller, receivableRef ?? ''))
  },
})

export const antiDilutionGet = defineTool({
  name: 'anti_dilution_get',
  title: 'How much of what was invoiced was taken back',
  description:
    'Credit notes and rejections of a supplier and buyer, from the supplier’s return and the organisation’s own records, ' +
    'measured once per pair and Indian day, which is one metered unit. Ratios are null below nine known months.',
  scope: 'risk-signals:read',
  annotations: READ_ONLY,
  input: z.looseObject({
    supplierGstin: z.string(),
    buyerGstin: z.string(),
    gstConsent: z.string().optional(),
    idempotencyKey: z.string().optional(),
  }),
  output: EvidenceSchema,
  // The pair and the day are its key: one that is brought changes nothing.
  async run({ idempotencyKey: _, ...args }, call) {
    const query = parseWith(DilutionQuery, args, 'the arguments')
    const answer = await spending(call, 'risk-signals', (admit) => askDilution(contextOf(call), query, admit))
    return JSON.parse(answer.body)
  },
})
