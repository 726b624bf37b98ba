import { hash } from 'node:crypto'
import { z } from 'zod'
import { canonicalize } from '#shared/canonical/jcs.ts'
import { NotFoundError } from '#shared/errors.ts'
import type { EntityKey } from '#shared/risk/businesses/entity.ts'
import { listKeys, revokeKey, trustKey } from '#shared/risk/businesses/key-store.ts'
import { EntityJwk, EntityKeyBody } from '#shared/risk/businesses/requests.ts'
import { veiError } from '#shared/risk/identifiers/vei.ts'
import { requireEntity } from '#shared/risk/operations/business-requests.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { checkedParam, formParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'

export const veiParam = checkedParam(veiError, {
  description: 'verified entity identifier',
  example: 'ICHLXI623BXOSHUY65HW4UDDGA',
})

const tags = ['Businesses'] as const
const FOLDER = '/v1/kyb/entities/{vei}/keys'

const KeySchema = z
  .object({ thumbprint: z.string(), jwk: EntityJwk, createdAt: z.string(), revokedAt: z.string().nullable() })
  .meta({ id: 'EntityKey' })

function viewOf({ thumbprint, jwk, createdAt, revokedAt }: EntityKey) {
  const revoked = revokedAt?.toISOString() ?? null
  return { thumbprint, jwk, createdAt: createdAt.toISOString(), revokedAt: revoked }
}

const trustRoute = write({
  tags,
  access: withScope('kyb:write'),
  path: FOLDER,
  operationId: 'trustEntityKey',
  summary: 'Trust a public key of an entity for signed documents',
  description: 'An acceptance in a document signed with the key has tier DOCUMENT_SIGNED, for this organisation only.',
  params: { vei: veiParam },
  body: EntityKeyBody,
  returns: KeySchema,
  status: 201,
  async handle({ caller, params: { vei }, body: { jwk }, tx }) {
    const entity = await requireEntity(tx, caller, vei)
    // RFC 7638: the required members of a key in their order, which is the order in the schema.
    const thumbprint = hash('sha256', canonicalize(jwk), 'base64url')
    await trustKey(tx, entity.id, thumbprint, jwk)
    const made = (await listKeys(tx, entity.id)).find((key) => key.thumbprint === thumbprint)
    if (!made) throw new NotFoundError('key not found')
    return viewOf(made)
  },
})

const listRoute = read({
  tags,
  access: withScope('kyb:read'),
  path: FOLDER,
  operationId: 'listEntityKeys',
  summary: 'List the current and former trusted keys of an entity',
  params: { vei: veiParam },
  returns: z.object({ keys: z.array(KeySchema), nextCursor: z.null() }),
  async handle({ caller, params: { vei }, deps: { db } }) {
    const entity = await requireEntity(db, caller, vei)
    return { keys: (await listKeys(db, entity.id)).map(viewOf), nextCursor: null }
  },
})

const revokeRoute = write({
  tags,
  access: withScope('kyb:write'),
  path: `${FOLDER}/{thumbprint}/revoke`,
  operationId: 'revokeEntityKey',
  summary: 'Stop trusting a key',
  params: {
    vei: veiParam,
    thumbprint: formParam(/^[A-Za-z0-9_-]{43}$/, 'must be 43 characters of base64url', {
      description: 'RFC 7638 thumbprint of the key',
      example: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
    }),
  },
  body: z.strictObject({}),
  isBodyOptional: true,
  returns: KeySchema,
  async handle({ caller, params: { vei, thumbprint }, tx }) {
    const entity = await requireEntity(tx, caller, vei)
    const isKnown = await revokeKey(tx, entity.id, thumbprint)
    const key = isKnown ? (await listKeys(tx, entity.id)).find((one) => one.thumbprint === thumbprint) : undefined
    if (!key) throw new NotFoundError('key not found')
    return viewOf(key)
  },
})

export const entityKeyRoutes: readonly Route[] = [trustRoute, listRoute, revokeRoute]
