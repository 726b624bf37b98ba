import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import type { TrustedIssuer } from '#shared/risk/credentials/trusted-issuer.ts'
import { IssuerBody } from '#shared/risk/identity/issuer-requests.ts'
import { deleteIssuer, listIssuers } from '#shared/risk/identity/issuer-store.ts'
import { trustIssuer } from '#shared/risk/operations/issuers.ts'
import { isUuid } from '#shared/uuid.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'

const tags = ['Identity'] as const
const FOLDER = '/v1/identity/issuers'

const IssuerSchema = z
  .object({
    issuerId: z.uuid(),
    iss: z.string(),
    vctValues: z.array(z.string()),
    jwks: z.object({ keys: z.array(z.looseObject({})) }),
    caCertificates: z.array(z.string()),
    issuerMetadata: z.boolean(),
    statusHosts: z.array(z.string()),
    assurance: z.enum(['HIGH', 'SUBSTANTIAL']),
  })
  .meta({ id: 'TrustedIssuer' })

function viewOf({ id, keys, hasMetadata, ...issuer }: Omit<TrustedIssuer, 'isOperators'>) {
  const { iss, vctValues, caCertificates, statusHosts, assurance } = issuer
  const jwks = { keys }
  return { issuerId: id, iss, vctValues, jwks, caCertificates, issuerMetadata: hasMetadata, statusHosts, assurance }
}

const trustRoute = write({
  tags,
  access: withScope('identity:write'),
  path: FOLDER,
  operationId: 'trustIssuer',
  summary: 'Trust an issuer for your own presentations',
  description:
    'Its credentials have tier DOCUMENT_SIGNED; those of issuers that the operator trusts have ISSUER_CONFIRMED. Other organisations are not affected.',
  params: {},
  body: IssuerBody,
  returns: IssuerSchema,
  status: 201,
  async handle({ caller: { organisationId, env }, body, tx, deps }) {
    return viewOf(await trustIssuer(tx, { organisationId, env }, body, deps))
  },
})

const listRoute = read({
  tags,
  access: withScope('identity:read'),
  path: FOLDER,
  operationId: 'listIssuers',
  summary: 'List the issuers that your organisation trusts',
  params: {},
  returns: z.object({ issuers: z.array(IssuerSchema), nextCursor: z.null() }),
  async handle({ caller: { organisationId, env }, deps }) {
    const issuers = await listIssuers(deps.db, { organisationId, env })
    return { issuers: issuers.map(viewOf), nextCursor: null }
  },
})

const distrustRoute = write({
  method: 'delete',
  tags,
  access: withScope('identity:write'),
  path: `${FOLDER}/{issuerId}`,
  operationId: 'distrustIssuer',
  summary: 'Stop trusting an issuer',
  params: { issuerId: idParam('issuerId of the issuer') },
  body: z.strictObject({}),
  isBodyOptional: true,
  returns: null,
  async handle({ caller: { organisationId, env }, params: { issuerId }, tx }) {
    const isGone = isUuid(issuerId) && (await deleteIssuer(tx, { organisationId, env }, issuerId))
    if (!isGone) throw new NotFoundError('issuer not found')
    return null
  },
})

export const issuerRoutes: readonly Route[] = [trustRoute, listRoute, distrustRoute]
