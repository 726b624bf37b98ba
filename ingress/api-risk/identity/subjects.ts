import type { Knex } from 'knex'
import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { AnchoredObject } from '#shared/risk/evidence/values.ts'
import { assuranceOf, assuranceView } from '#shared/risk/identity/assurance.ts'
import { consentView } from '#shared/risk/identity/consent.ts'
import { listConsents } from '#shared/risk/identity/consent-store.ts'
import { ReasonBody, SubjectBody, TransitionBody } from '#shared/risk/identity/identity-requests.ts'
import { passportView } from '#shared/risk/identity/passport.ts'
import { listPassports } from '#shared/risk/identity/passport-store.ts'
import type { Subject } from '#shared/risk/identity/subject.ts'
import { findSubject, listSubjects, listTransitions } from '#shared/risk/identity/subject-store.ts'
import { factorsOf, verificationView } from '#shared/risk/identity/verification.ts'
import { listVerifications } from '#shared/risk/identity/verification-store.ts'
import { createSubject, eraseSubject, moveSubject } from '#shared/risk/operations/subjects.ts'
import { toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import type { IngressDeps } from '../../deps.ts'
import { DEFAULT_PAGE, PageQuery, paged, sealCursor, unsealCursor } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { read, write } from '../risk-route.ts'
import { given, ownerOf, subjectOf, subjectParams } from './operation-context.ts'

const tags = ['Identity'] as const
const FOLDER = '/v1/identity/subjects'

const MadeSchema = z
  .object({ subjectId: z.uuid(), subjectRef: z.string(), state: z.literal('UNVERIFIED') })
  .meta({ id: 'MadeSubject' })

const ListedSchema = z
  .object({
    subjectId: z.uuid(),
    subjectRef: z.string(),
    kind: z.enum(['PERSON', 'BUSINESS']),
    state: z.string(),
    assuranceLevel: z.enum(['HIGH', 'SUBSTANTIAL', 'LOW', 'NONE']),
    assuranceExpiresAt: z.string().nullable(),
    externalRef: z.string().nullable(),
    createdAt: z.string(),
  })
  .meta({ id: 'ListedSubject' })

const SubjectSchema = ListedSchema.extend({
  assurance: z.looseObject({ level: z.string() }),
  verifications: z.array(z.looseObject({ verificationId: z.uuid() })),
  passports: z.array(z.looseObject({ passportId: z.uuid() })),
  consents: z.array(z.looseObject({ consentId: z.uuid() })),
  transitions: z.array(AnchoredObject),
}).meta({ id: 'Subject' })

function listed(subject: Subject, { secrets }: Pick<IngressDeps, 'secrets'>) {
  const { sealedExternalRef } = subject
  return {
    subjectId: subject.id,
    subjectRef: subject.ref,
    kind: subject.kind,
    state: subject.state,
    assuranceLevel: subject.assuranceLevel,
    assuranceExpiresAt: subject.assuranceExpiresAt?.toISOString() ?? null,
    externalRef: sealedExternalRef === null ? null : secrets.open('identity', sealedExternalRef),
    createdAt: subject.createdAt.toISOString(),
  }
}

async function viewOf(db: Knex, subject: Subject, deps: IngressDeps) {
  const nowMs = toMillis(deps.now())
  const verifications = await listVerifications(db, subject.id)
  const own = { subjectId: subject.id, before: null, limit: 200 }
  return {
    ...listed(subject, deps),
    assurance: assuranceView(assuranceOf(factorsOf(verifications), nowMs)),
    verifications: verifications.map(verificationView),
    passports: (await listPassports(db, subject.id)).map(passportView),
    consents: (await listConsents(db, subject, own)).map((consent) => consentView(consent, nowMs)),
    transitions: (await listTransitions(db, subject.id)).map((body) => JSON.parse(body)),
  }
}

const createRoute = write({
  tags,
  access: withScope('identity:write'),
  path: FOLDER,
  operationId: 'createSubject',
  summary: 'Create a subject whose identity is to be verified',
  description:
    '`externalRef` is your reference. It is stored encrypted and never anchored; records contain `subjectRef` instead.',
  params: {},
  body: SubjectBody,
  returns: MadeSchema,
  status: 201,
  handle: ({ caller, body, tx, deps }) => createSubject(tx, ownerOf(caller), body, deps),
})

const listRoute = read({
  tags,
  access: withScope('identity:read'),
  path: FOLDER,
  operationId: 'listSubjects',
  summary: 'List your subjects, newest first',
  params: {},
  query: PageQuery,
  returns: z.object({ subjects: z.array(ListedSchema), nextCursor: z.string().nullable() }),
  async handle({ caller, query, deps }) {
    const limit = query.limit ?? DEFAULT_PAGE
    const before = unsealCursor(query.cursor, deps.secrets)
    const rows = await listSubjects(deps.db, caller, before, limit + 1)
    const { page, nextCursor } = paged(rows, limit, ({ seq }) => sealCursor(seq, deps.secrets))
    return { subjects: page.map((subject) => listed(subject, deps)), nextCursor }
  },
})

const readRoute = read({
  tags,
  access: withScope('identity:read'),
  path: `${FOLDER}/{subjectId}`,
  operationId: 'getSubject',
  summary: 'Get a subject with its assurance, verifications, passports, consents and transitions',
  params: subjectParams,
  returns: SubjectSchema,
  async handle({ caller, params: { subjectId }, deps }) {
    const subject = isUuid(subjectId) ? await findSubject(deps.db, caller, subjectId) : undefined
    if (!subject) throw new NotFoundError('subject not found')
    return await viewOf(deps.db, subject, deps)
  },
})

const moveRoute = write({
  tags,
  access: withScope('identity:write'),
  path: `${FOLDER}/{subjectId}/transitions`,
  operationId: 'moveSubject',
  summary: 'Move an identity to another state',
  description: '`reasonCode` is anchored. `reason` is stored encrypted until the subject is erased.',
  params: subjectParams,
  body: TransitionBody,
  returns: AnchoredObject,
  status: 201,
  async handle({ caller, params: { subjectId }, body: { to, reason, reasonCode }, tx, enqueue, deps }) {
    const subject = await subjectOf(tx, caller, subjectId)
    return await moveSubject(tx, subject, to, { by: 'CALLER', reasonCode, reason }, given(enqueue, deps))
  },
})

const eraseRoute = write({
  tags,
  access: withScope('identity:write'),
  path: `${FOLDER}/{subjectId}/erasure`,
  operationId: 'eraseSubject',
  summary: 'Erase values, salts, reference and reasons of a subject, and revoke its passports',
  description:
    'Anchored objects remain and verify, but can no longer be linked to the subject. A second erasure returns the same receipt.',
  params: subjectParams,
  body: ReasonBody,
  returns: AnchoredObject,
  async handle({ caller, params: { subjectId }, tx, enqueue, deps }) {
    const { id } = await subjectOf(tx, caller, subjectId)
    return await eraseSubject(tx, ownerOf(caller), id, given(enqueue, deps))
  },
})

export const subjectRoutes: readonly Route[] = [createRoute, listRoute, readRoute, moveRoute, eraseRoute]
