import type { Knex } from 'knex'
import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import { veisOf } from '#shared/risk/businesses/entity.ts'
import { ErasureBody, MembershipBody, OwnersBody, PassportBody, ResolveBody } from '#shared/risk/businesses/requests.ts'
import {
  type Entity,
  type EntityRecord,
  ensureEntity,
  findByIdentifier,
  listAliases,
  listEntityRecords,
  listIdentifiers,
} from '#shared/risk/businesses/store.ts'
import { AnchorSchema } from '#shared/risk/evidence/values.ts'
import { changeMembership, eraseEntity, issuePassport, stateOwners } from '#shared/risk/operations/record-entity.ts'
import type { IngressDeps } from '../../deps.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { read, write } from '../risk-route.ts'
import { ownEntity, veiParam } from './own-entity.ts'

const tags = ['Businesses'] as const
const params = { vei: veiParam }
const FOLDER = '/v1/kyb/entities'

const AnchoredObject = z.looseObject({ eventType: z.string(), timestamp: z.string(), anchor: AnchorSchema })

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

/** What operations on an entity are given. */
function given(enqueue: Enqueue, deps: IngressDeps) {
  return { enqueue, now: deps.now, secrets: deps.secrets }
}

const resolveRoute = write({
  tags,
  access: withScope('kyb:write'),
  path: `${FOLDER}/resolve`,
  operationId: 'resolveEntity',
  summary: 'The entity behind identifiers',
  description:
    'A PAN, or a company number while no PAN is known, makes the entity identifier. An LEI alone names what was verified with it.',
  params: {},
  body: ResolveBody,
  returns: EntitySchema,
  async handle({ caller, body, tx, deps }) {
    const veis = veisOf(await deps.risk.veiKey(caller.env), body)
    const entity = veis
      ? await ensureEntity(tx, caller, veis, body, {})
      : await findByIdentifier(tx, caller, 'lei', body.lei ?? '')
    if (!entity) throw new NotFoundError('no entity with this identifier has been verified')
    return await viewOf(tx, entity)
  },
})

const readRoute = read({
  tags,
  access: withScope('kyb:read'),
  path: `${FOLDER}/{vei}`,
  operationId: 'getEntity',
  summary: 'What the organisation holds of an entity',
  params,
  returns: EntitySchema.extend({ verifications: z.array(AnchoredObject) }),
  async handle({ caller, params: { vei }, deps: { db } }) {
    const entity = await ownEntity(db, caller, vei)
    const verifications = await listEntityRecords(db, entity.id, 'VERIFICATION')
    return { ...(await viewOf(db, entity)), verifications: verifications.map(({ body }) => JSON.parse(body)) }
  },
})

/** An anchored object with the values that its commitments stand for; null once they are erased. */
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
      const entity = await ownEntity(deps.db, caller, vei)
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
    return await changeMembership(tx, caller, await ownEntity(tx, caller, vei), body, {
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
  summary: 'State who owns an entity',
  description: 'Names are shown to the stating organisation alone; the anchored statement holds their commitments.',
  params,
  body: OwnersBody,
  returns: z.looseObject({ statementId: z.uuid(), record: AnchoredObject }),
  status: 201,
  async handle({ caller, params: { vei }, body, tx, enqueue, deps }) {
    return await stateOwners(tx, caller, await ownEntity(tx, caller, vei), body, given(enqueue, deps))
  },
})

const passportRoute = write({
  tags,
  access: withScope('kyb:write'),
  path: `${FOLDER}/{vei}/passports`,
  operationId: 'issueBusinessPassport',
  summary: 'A passport of what the newest verification found, without names',
  params,
  body: PassportBody,
  returns: AnchoredObject,
  status: 201,
  async handle({ caller, params: { vei }, body, tx, enqueue, deps }) {
    return await issuePassport(tx, caller, await ownEntity(tx, caller, vei), body, given(enqueue, deps))
  },
})

const erasureRoute = write({
  tags,
  access: withScope('kyb:write'),
  path: `${FOLDER}/{vei}/erasure`,
  operationId: 'eraseEntity',
  summary: 'Erase what a person is known by: identifiers, names, salts',
  params,
  body: ErasureBody,
  returns: AnchoredObject,
  async handle({ caller, params: { vei }, tx, enqueue, deps }) {
    return await eraseEntity(tx, caller, await ownEntity(tx, caller, vei), given(enqueue, deps))
  },
})

export const entityRoutes: readonly Route[] = [
  resolveRoute,
  readRoute,
  membershipRoute,
  listOf('MEMBERSHIP', 'memberships', 'Memberships of an entity, newest first'),
  ownersRoute,
  listOf('OWNERS', 'owners', 'Statements of an entity’s owners, newest first'),
  passportRoute,
  erasureRoute,
]
