import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { AnchoredObject } from '#shared/risk/evidence/values.ts'
import { consentView } from '#shared/risk/identity/consent.ts'
import { listConsents } from '#shared/risk/identity/consent-store.ts'
import { ConsentBody } from '#shared/risk/identity/identity-requests.ts'
import { recordConsent, withdrawConsent } from '#shared/risk/operations/manage-consent.ts'
import { toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { DEFAULT_PAGE, PageQuery, paged, sealCursor, unsealCursor } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'
import { ownerOf } from './operation-context.ts'

const tags = ['Identity'] as const
const FOLDER = '/v1/identity/consents'

const recordRoute = write({
  tags,
  access: withScope('identity:write'),
  path: FOLDER,
  operationId: 'recordConsent',
  summary: 'Record the consent of a subject to a use of fields',
  params: {},
  body: ConsentBody,
  returns: AnchoredObject,
  status: 201,
  handle: ({ caller, body, tx, deps }) => recordConsent(tx, ownerOf(caller), body, deps),
})

const listRoute = read({
  tags,
  access: withScope('identity:read'),
  path: FOLDER,
  operationId: 'listConsents',
  summary: 'List consents, newest first',
  params: {},
  query: PageQuery.extend({ subjectId: z.uuid().optional() }),
  returns: z.object({
    consents: z.array(
      z.object({
        consentId: z.uuid(),
        subjectId: z.uuid(),
        state: z.enum(['LIVE', 'EXPIRED', 'WITHDRAWN']),
        record: AnchoredObject,
        withdrawal: AnchoredObject.nullable(),
      }),
    ),
    nextCursor: z.string().nullable(),
  }),
  async handle({ caller, query, deps }) {
    const limit = query.limit ?? DEFAULT_PAGE
    const before = unsealCursor(query.cursor, deps.secrets)
    const rows = await listConsents(deps.db, caller, { subjectId: query.subjectId ?? null, before, limit: limit + 1 })
    const { page, nextCursor } = paged(rows, limit, ({ seq }) => sealCursor(seq, deps.secrets))
    return { consents: page.map((consent) => consentView(consent, toMillis(deps.now()))), nextCursor }
  },
})

const withdrawRoute = write({
  tags,
  access: withScope('identity:write'),
  path: `${FOLDER}/{consentId}/withdraw`,
  operationId: 'withdrawConsent',
  summary: 'Withdraw a consent, and delete the values read under it',
  params: { consentId: idParam('consentId of the consent') },
  body: z.strictObject({}),
  isBodyOptional: true,
  returns: AnchoredObject,
  async handle({ caller, params: { consentId }, tx, deps }) {
    if (!isUuid(consentId)) throw new NotFoundError('consent not found')
    return await withdrawConsent(tx, ownerOf(caller), consentId, deps)
  },
})

export const consentRoutes: readonly Route[] = [recordRoute, listRoute, withdrawRoute]
