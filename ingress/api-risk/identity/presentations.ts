import { z } from 'zod'
import { NotConfiguredError, NotFoundError } from '#shared/errors.ts'
import { presentationView, RESPONSE_MODES } from '#shared/risk/identity/presentation.ts'
import { findPresentation } from '#shared/risk/identity/presentation-store.ts'
import { PresentationBody } from '#shared/risk/identity/requests.ts'
import { readPresentationValues, requestPresentation } from '#shared/risk/operations/presentations.ts'
import { toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'

const tags = ['Identity'] as const
const FOLDER = '/v1/identity/presentations'
const params = { presentationId: idParam('presentationId of the presentation') }

const RequestedSchema = z
  .object({
    presentationId: z.uuid(),
    state: z.literal('CREATED'),
    responseMode: z.enum(RESPONSE_MODES),
    expiresAt: z.string(),
    requestUri: z.string(),
    pageUrl: z.string().meta({ description: 'shows the request as QR code, and its state; no values' }),
    authorizationRequest: z.string(),
  })
  .meta({ id: 'RequestedPresentation' })

const PresentationSchema = z
  .object({
    presentationId: z.uuid(),
    state: z.enum(['CREATED', 'REQUEST_FETCHED', 'RECEIVED', 'VERIFIED', 'REJECTED', 'EXPIRED']),
    purpose: z.string(),
    dealId: z.string().nullable(),
    subjectId: z.uuid().nullable(),
    responseMode: z.enum(RESPONSE_MODES),
    createdAt: z.string(),
    expiresAt: z.string(),
    fields: z.array(z.string()),
    issuer: z.object({ iss: z.string(), tier: z.string(), assurance: z.string() }).nullable(),
    reasons: z.array(z.string()),
    walletError: z.string().nullable(),
    discardedClaims: z.int(),
    record: z.looseObject({}).nullable(),
  })
  .meta({ id: 'Presentation' })

const requestRoute = write({
  tags,
  access: withScope('identity:write'),
  path: FOLDER,
  operationId: 'requestPresentation',
  summary: 'Ask a wallet to present credentials',
  description:
    'Show `authorizationRequest` as a QR code or link, or open `pageUrl`, which shows it. It expires after five minutes. The query is DCQL (OpenID4VP 1.0) for `dc+sd-jwt` credentials.',
  params: {},
  body: PresentationBody,
  returns: RequestedSchema,
  status: 201,
  seal: true,
  async handle({ caller, body, tx, deps }) {
    const signer = await deps.risk.requestSigner(caller.env)
    if (!signer) throw new NotConfiguredError('requests to wallets are not configured')
    const { secrets, now, config } = deps
    const { organisationId, env } = caller
    const given = { secrets, now, clientId: signer.clientId, publicUrl: config.publicUrl }
    return await requestPresentation(tx, { organisationId, env }, body, given)
  },
})

const readRoute = read({
  tags,
  access: withScope('identity:read'),
  path: `${FOLDER}/{presentationId}`,
  operationId: 'getPresentation',
  summary: 'Get the state of a presentation and the names of the disclosed fields',
  params,
  returns: PresentationSchema,
  async handle({ caller, params: { presentationId: id }, deps }) {
    const presentation = isUuid(id) ? await findPresentation(deps.db, caller, id) : undefined
    if (!presentation) throw new NotFoundError('presentation not found')
    return presentationView(presentation, toMillis(deps.now()))
  },
})

const claimsRoute = read({
  tags,
  access: withScope('identity:read'),
  path: `${FOLDER}/{presentationId}/claims`,
  operationId: 'getPresentationClaims',
  summary: 'Get the disclosed values, while they are stored',
  description: 'Each read is written to the audit log. A presentation with `redirectUri` requires `responseCode`.',
  params,
  query: z.strictObject({ responseCode: z.string().max(200).optional() }),
  returns: z.object({
    presentationId: z.uuid(),
    claims: z.record(z.string(), z.unknown()).meta({
      description:
        'values by path, joined by dots; if a query has equal names or a credential is presented several times, by the JSON of credential id, presentation and path, such as `["company",0,"name"]`',
    }),
  }),
  async handle({ caller, params: { presentationId }, query, deps }) {
    const values = isUuid(presentationId)
      ? await readPresentationValues(deps.db, caller.actor, caller, presentationId, query.responseCode ?? null, deps)
      : undefined
    if (!values) throw new NotFoundError('there are no stored values of this presentation')
    return { presentationId, claims: Object.fromEntries(values.map(({ name, value }) => [name, value])) }
  },
})

export const presentationRoutes: readonly Route[] = [requestRoute, readRoute, claimsRoute]
