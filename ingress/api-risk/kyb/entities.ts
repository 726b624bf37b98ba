import type { Knex } from 'knex'
import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import { veisOf } from '#shared/risk/businesses/entity.ts'
import { listEntityPassports } from '#shared/risk/businesses/passport-store.ts'
import { ErasureBody, MembershipBody, OwnersBody, PassportBody, ResolveBody } from '#shared/risk/businesses/requests.ts'
import {
  type Entity,
  type EntityRecord,
  ensureEntity,
  findByIdentifier,
  listAliases,
  listEntities,
  listEntityRecords,
  listIdentifiers,
} from '#shared/risk/businesses/store.ts'
import { AnchoredObject } from '#shared/risk/evidence/values.ts'
import { passportView } from '#shared/risk/identity/passport.ts'
import { requireEntity } from '#shared/risk/operations/business-requests.ts'
import { issuePassport, revokePassport } from '#shared/risk/operations/entity-passport.ts'
import { changeMembership, eraseEntity, stateOwners } from '#shared/risk/operations/record-entity.ts'
import { isUuid } from '#shared/uuid.ts'
import type { IngressDeps } from '../../deps.ts'
import { DEFAULT_PAGE, decodeCursor, encodeCursor, PageQuery, paged } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { passportObject } from '../answer.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'
import { veiParam } from './keys.ts'

const tags = ['Businesses'] as const
const params = { vei: veiParam }
const FOLDER = '/v1/kyb/entities'

const EntitySchema = z
  .object({
    vei: z.string(),
    entityId: z.uuid(),
    identifiers: z.array(z.object({ type: z.string(), value: z.string(), tier: z.string() })),
    aliases: z.array(z.string()),
  })
  .meta({ id: 'Entity' })

async function viewOf(db: Knex, entity: Entity) {
  return {
    vei: entity.vei,
    entityId: entity.id,
    identifiers: await listIdentifiers(db, entity.id),
    aliases: await listAliases(db, entity.id),
  }
}

function given(enqueue: Enqueue, deps: IngressDeps) {
  return { enqueue, now: deps.now, secrets: deps.secrets }
}

const resolveRoute = write({
  tags,
  access: withScope('kyb:write'),
  path: `${FOLDER}/resolve`,
  operationId: 'resolveEntity',
  summary: 'Resolve identifiers to an entity',
  description:
    'The entity identifier is derived from a PAN, or from a company number if no PAN is known. An LEI alone resolves to the entity that was verified with it.',
  params: {},
  body: ResolveBody,
  returns: EntitySchema,
  async handle({ caller, body, tx, deps }) {
    const veis = veisOf(await deps.risk.veiKey(caller.env), body)
    const entity = veis
      ? await ensureEntity(tx, caller, veis, body, {})
      : await findByIdentifier(tx, caller, 'lei', body.lei ?? '')
    if (!entity) throw new NotFoundError('no verified entity has this identifier')
    return await viewOf(tx, entity)
  },
})

const readRoute = read({
  tags,
  access: withScope('kyb:read'),
  path: `${FOLDER}/{vei}`,
  operationId: 'getEntity',
  summary: 'Get the stored data of an entity',
  params,
  returns: EntitySchema.extend({ verifications: z.array(AnchoredObject) }),
  async handle({ caller, params: { vei }, deps: { db } }) {
    const entity = await requireEntity(db, caller, vei)
    const verifications = await listEntityRecords(db, entity.id, 'VERIFICATION')
    return { ...(await viewOf(db, entity)), verifications: verifications.map(({ body }) => JSON.parse(body)) }
  },
})

const Cursor = z.tuple([z.int(), z.uuid()])

const listRoute = read({
  tags,
  access: withScope('kyb:read'),
  path: FOLDER,
  operationId: 'listEntities',
  summary: 'List the entities of the organisation, newest first',
  params: {},
  query: PageQuery,
  returns: z.object({
    entities: z.array(z.object({ vei: z.string(), entityId: z.uuid(), isPerson: z.boolean(), createdAt: z.string() })),
    nextCursor: z.string().nullable(),
  }),
  async handle({ caller, query, deps: { db } }) {
    const limit = query.limit ?? DEFAULT_PAGE
    const cursor = decodeCursor(query.cursor, Cursor)
    const rows = await listEntities(db, caller, cursor && { micros: cursor[0], id: cursor[1] }, limit + 1)
    const { page, nextCursor } = paged(rows, limit, ({ micros, id }) => encodeCursor([micros, id]))
    const entities = page.map(({ vei, id, isPerson, micros }) => ({
      vei,
      entityId: id,
      isPerson,
      createdAt: new Date(Math.floor(micros / 1_000)).toISOString(),
    }))
    return { entities, nextCursor }
  },
})

/** Returns an anchored object with the values of its commitments, which are null after their erasure. */
function opened({ body, sealedValues }: EntityRecord, { secrets }: IngressDeps) {
  const values = sealedValues === null ? null : JSON.parse(secrets.open('entity', sealedValues))
  return { record: JSON.parse(body), values }
}

function listOf(kind: 'MEMBERSHIP' | 'OWNERS', name: string, summary: string): Route {
  return read({
    tags,
    access: withScope('kyb:read'),
    path: `${FOLDER}/{vei}/${name}`,
    operationId: `list${name[0]?.toUpperCase()}${name.slice(1)}`,
    summary,
    params,
    returns: z.object({
      [name]: z.array(z.object({ record: AnchoredObject, values: z.unknown() })),
      nextCursor: z.null(),
    }),
    async handle({ caller, params: { vei }, deps }) {
      const entity = await requireEntity(deps.db, caller, vei)
      const records = await listEntityRecords(deps.db, entity.id, kind)
      return { [name]: records.map((record) => opened(record, deps)), nextCursor: null }
    },
  })
}

const membershipRoute = write({
  tags,
  access: withScope('kyb:write'),
  path: `${FOLDER}/{vei}/memberships`,
  operationId: 'changeMembership',
  summary: 'Record that an entity joins, changes its role in, or leaves an organisation',
  params,
  body: MembershipBody,
  returns: z.looseObject({ membershipId: z.uuid(), record: AnchoredObject }),
  status: 201,
  async handle({ caller, params: { vei }, body, tx, enqueue, deps }) {
    const veiKey = await deps.risk.veiKey(caller.env)
    return await changeMembership(tx, caller, await requireEntity(tx, caller, vei), body, {
      ...given(enqueue, deps),
      veiKey,
    })
  },
})

const ownersRoute = write({
  tags,
  access: withScope('kyb:write'),
  path: `${FOLDER}/{vei}/owners`,
  operationId: 'stateOwners',
  summary: 'State the owners of an entity',
  description:
    'Only the organisation that states them can see the names. The anchored statement contains their commitments.',
  params,
  body: OwnersBody,
  returns: z.looseObject({ statementId: z.uuid(), record: AnchoredObject }),
  status: 201,
  async handle({ caller, params: { vei }, body, tx, enqueue, deps }) {
    return await stateOwners(tx, caller, await requireEntity(tx, caller, vei), body, given(enqueue, deps))
  },
})

const PassportSchema = passportObject.meta({ id: 'BusinessPassport' })

const passportRoute = write({
  tags,
  access: withScope('kyb:write'),
  path: `${FOLDER}/{vei}/passports`,
  operationId: 'issueBusinessPassport',
  summary: 'Issue a passport of the newest verification, without names',
  description:
    'Issued as anchored object and as SD-JWT VC, with an entry in a Token Status List. Any organisation can verify it with `POST /v1/identity/passports/verify`.',
  params,
  body: PassportBody,
  returns: PassportSchema,
  status: 201,
  async handle({ caller, params: { vei }, body, tx, enqueue, deps }) {
    return await issuePassport(tx, caller, await requireEntity(tx, caller, vei), body, {
      ...given(enqueue, deps),
      publicUrl: deps.config.publicUrl,
      signingKey: await deps.risk.passportKey(caller.env),
    })
  },
})

const listPassportsRoute = read({
  tags,
  access: withScope('kyb:read'),
  path: `${FOLDER}/{vei}/passports`,
  operationId: 'listBusinessPassports',
  summary: 'List the passports of an entity, newest first',
  params,
  returns: z.object({ passports: z.array(PassportSchema), nextCursor: z.null() }),
  async handle({ caller, params: { vei }, deps: { db } }) {
    const entity = await requireEntity(db, caller, vei)
    const passports = await listEntityPassports(db, entity.id)
    return { passports: passports.map((passport) => passportView(passport)), nextCursor: null }
  },
})

const revokePassportRoute = write({
  tags,
  access: withScope('kyb:write'),
  path: '/v1/kyb/passports/{businessPassportId}/revoke',
  operationId: 'revokeBusinessPassport',
  summary: 'Revoke a passport of a business, also in its status list',
  params: { businessPassportId: idParam('passportId of the passport') },
  body: ErasureBody,
  returns: AnchoredObject,
  async handle({ caller, params: { businessPassportId: id }, body: { reason }, tx, deps }) {
    if (!isUuid(id)) throw new NotFoundError('passport not found')
    return (await revokePassport(tx, caller, id, reason, deps)).record
  },
})

const erasureRoute = write({
  tags,
  access: withScope('kyb:write'),
  path: `${FOLDER}/{vei}/erasure`,
  operationId: 'eraseEntity',
  summary: 'Erase the identifiers, names and salts of an entity',
  params,
  body: ErasureBody,
  returns: AnchoredObject,
  async handle({ caller, params: { vei }, tx, enqueue, deps }) {
    return await eraseEntity(tx, caller, await requireEntity(tx, caller, vei), given(enqueue, deps))
  },
})

export const entityRoutes: readonly Route[] = [
  resolveRoute,
  listRoute,
  readRoute,
  membershipRoute,
  listOf('MEMBERSHIP', 'memberships', 'List the memberships of an entity, newest first'),
  ownersRoute,
  listOf('OWNERS', 'owners', 'List the statements about the owners of an entity, newest first'),
  passportRoute,
  listPassportsRoute,
  revokePassportRoute,
  erasureRoute,
]
