import { z } from 'zod'
import { NotFoundError, validationError } from '#shared/errors.ts'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { listDisputes } from '#shared/risk/first-financing/dispute-store.ts'
import { ReceivableFields } from '#shared/risk/first-financing/receivable.ts'
import { findRegistration, listRegistrations, listSightings } from '#shared/risk/first-financing/registration-store.ts'
import {
  AcceptBody,
  BlindAcceptBody,
  BlindRegistrationBody,
  MoveBody,
  RegistrationRequestBody,
} from '#shared/risk/first-financing/requests.ts'
import { decryptedReceivable, RegistrationSchema, registrationView } from '#shared/risk/first-financing/view.ts'
import {
  createTransferOffer,
  REGISTRATIONS,
  requireRegistration,
  runRegistration,
  runTransferAcceptance,
} from '#shared/risk/operations/financing-requests.ts'
import { moveRegistration } from '#shared/risk/operations/registrations.ts'
import { toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { DEFAULT_PAGE, decodeCursor, encodeCursor, PageQuery, paged } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { pollingResponses, waitingResponses } from '../jobs.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'

const common = { tags: ['First financing'], access: withScope('first-financing:register') } as const
const params = { registrationId: idParam('registrationId of the registration') }

const registerRoute = write({
  ...common,
  path: REGISTRATIONS,
  operationId: 'registerReceivable',
  summary: 'Register a receivable',
  description:
    'Send the fields, or `fingerprints` that hide them. Of concurrent registrations one succeeds; the others get 409 with EXACT. If you already hold the receivable, the answer is 200 with your registration. A registration that is not financed expires after seven days.',
  params: {},
  body: z.union([RegistrationRequestBody, BlindRegistrationBody]),
  responses: waitingResponses({ 200: RegistrationSchema, 201: RegistrationSchema }),
  perform: (context) => runRegistration(context, context.body),
})

const HolderRegistrationSchema = RegistrationSchema.extend({
  receivable: z
    .object({
      fields: ReceivableFields.nullable(),
      rf1: z.string().optional(),
      lenderRef: z.string().nullable(),
      salts: z.record(z.string(), z.string()),
    })
    .nullable()
    .meta({
      description:
        'the fields, or the fingerprint of what was registered without them, and the salts that open the commitments',
    }),
  othersChecks: z.array(z.object({ date: z.string(), count: z.int() })),
  disputes: z.array(z.object({ disputeId: z.uuid(), state: z.string(), openedAt: z.string(), answerBy: z.string() })),
}).meta({ id: 'OwnFinancingRegistration' })

const readRegistration = read({
  ...common,
  path: `${REGISTRATIONS}/{registrationId}`,
  operationId: 'getRegistration',
  summary: 'Get a registration of the organisation',
  params,
  responses: pollingResponses(HolderRegistrationSchema),
  async handle({ caller, params: { registrationId: id }, deps }) {
    const registration = isUuid(id) ? await findRegistration(deps.db, caller, id) : undefined
    if (!registration) {
      const kinds = ['financing.registration', 'financing.acceptance'] as const
      const job = { folder: REGISTRATIONS, id, what: 'registration' }
      return await readOutcome(deps, caller, { ...job, kind: kinds[0] }).catch((error: unknown) => {
        if (!(error instanceof NotFoundError)) throw error
        return readOutcome(deps, caller, { ...job, kind: kinds[1] })
      })
    }
    return {
      ...registrationView(registration, toMillis(deps.now())),
      receivable: decryptedReceivable(registration, deps.secrets),
      othersChecks: await listSightings(deps.db, id),
      disputes: (await listDisputes(deps.db, id)).map(({ id: disputeId, ...dispute }) => ({ disputeId, ...dispute })),
    }
  },
})

const Cursor = z.tuple([z.int(), z.uuid()])

const listRoute = read({
  ...common,
  path: REGISTRATIONS,
  operationId: 'listRegistrations',
  summary: 'List the registrations of the organisation, newest first',
  params: {},
  query: PageQuery,
  returns: z.object({ registrations: z.array(RegistrationSchema), nextCursor: z.string().nullable() }),
  async handle({ caller, query, deps: { db, now } }) {
    const nowMs = toMillis(now())
    const limit = query.limit ?? DEFAULT_PAGE
    const cursor = decodeCursor(query.cursor, Cursor)
    const rows = await listRegistrations(db, caller, cursor && { micros: cursor[0], id: cursor[1] }, limit + 1)
    const { page, nextCursor } = paged(rows, limit, ({ micros, id }) => encodeCursor([micros, id]))
    return { registrations: page.map((row) => registrationView(row, nowMs)), nextCursor }
  },
})

/** @throws ValidationError for a receivable that was financed before its document existed */
function refuseFinancedBefore(documentDate: string | undefined, financedOn: string | undefined): void {
  if (documentDate === undefined || financedOn === undefined || financedOn >= documentDate) return
  const message = 'financedOn must not be before documentDate'
  throw validationError([{ path: 'financedOn', code: 'TOO_EARLY', message }])
}

const SUMMARIES = {
  finance: 'Mark a registration as financed',
  release: 'Release a financed receivable, so that others can register it',
  cancel: 'Cancel a registration that was not financed',
  renew: 'Extend a registration: by seven days, twice; a financed one by 180 days',
} as const

const moves = (['finance', 'release', 'cancel', 'renew'] as const).map((action) =>
  write({
    ...common,
    path: `${REGISTRATIONS}/{registrationId}/${action}`,
    operationId: `${action}Registration`,
    summary: SUMMARIES[action],
    params,
    body: MoveBody,
    isBodyOptional: true,
    returns: RegistrationSchema,
    async handle({ caller, params: { registrationId }, body, tx, enqueue, deps }) {
      const registration = await requireRegistration(tx, caller, registrationId)
      refuseFinancedBefore(decryptedReceivable(registration, deps.secrets)?.fields?.documentDate, body.financedOn)
      const moved = await moveRegistration(tx, registration, action, body, { enqueue, now: deps.now })
      return registrationView(moved, toMillis(deps.now()))
    },
  }),
)

const transferRoute = write({
  ...common,
  path: `${REGISTRATIONS}/{registrationId}/transfer`,
  operationId: 'offerTransfer',
  summary: 'Offer a financed receivable for transfer',
  description: 'The token is shown only once, can be used once, and expires after 72 hours. A new offer replaces it.',
  params,
  body: MoveBody,
  isBodyOptional: true,
  seal: true,
  returns: z.object({ registrationId: z.uuid(), transferToken: z.string(), expiresAt: z.string() }),
  handle: ({ caller, params: { registrationId }, tx, deps }) => createTransferOffer(tx, caller, registrationId, deps),
})

const acceptRoute = write({
  ...common,
  path: '/v1/first-financing/transfers/accept',
  operationId: 'acceptTransfer',
  summary: 'Accept the transfer of a financed receivable',
  params: {},
  body: z.union([AcceptBody, BlindAcceptBody]),
  responses: waitingResponses({ 201: RegistrationSchema }),
  perform: (context) => runTransferAcceptance(context, context.body),
})

export const registrationRoutes: readonly Route[] = [
  registerRoute,
  listRoute,
  readRegistration,
  ...moves,
  transferRoute,
  acceptRoute,
]
