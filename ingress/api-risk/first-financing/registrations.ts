import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { z } from 'zod'
import { financingRequested } from '#shared/contracts/worker-messages.ts'
import { ConflictError, NotFoundError, validationError } from '#shared/errors.ts'
import type { Owner } from '#shared/jobs/job.ts'
import { type JobContext, readOutcome, runJob } from '#shared/jobs/operations/jobs.ts'
import { listDisputes } from '#shared/risk/first-financing/dispute-store.ts'
import { ReceivableFields, type Registration } from '#shared/risk/first-financing/receivable.ts'
import {
  findRegistration,
  listRegistrations,
  listSightings,
  lockRegistration,
  offerTransfer,
} from '#shared/risk/first-financing/registration-store.ts'
import {
  type AcceptanceRequest,
  AcceptBody,
  BlindAcceptBody,
  BlindRegistrationBody,
  MoveBody,
  type RegistrationBody,
  RegistrationRequestBody,
  receivableOf,
} from '#shared/risk/first-financing/requests.ts'
import { stateAfter, stateAt } from '#shared/risk/first-financing/states.ts'
import { decryptedReceivable, RegistrationSchema, registrationView } from '#shared/risk/first-financing/view.ts'
import { moveRegistration } from '#shared/risk/operations/registrations.ts'
import type { StoredAnswer } from '#shared/tenancy/idempotency/store.ts'
import { toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import type { IngressDeps } from '../../deps.ts'
import { DEFAULT_PAGE, decodeCursor, encodeCursor, PageQuery, paged } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { pollingResponses, waitingResponses } from '../jobs.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'
import { countInput, limitOpen } from './limits.ts'

export const REGISTRATIONS = '/v1/first-financing/registrations'
const FOLDER = REGISTRATIONS
const common = { tags: ['First financing'], access: withScope('first-financing:register') } as const
const params = { registrationId: idParam('registrationId of the registration') }

const registerRoute = write({
  ...common,
  path: FOLDER,
  operationId: 'registerReceivable',
  summary: 'Register a receivable, for its first holder',
  description:
    'By fields, or by `fingerprints` that hide them. Of several that register at the same moment the database lets one be first; the others get 409 with EXACT. Who registers what it holds already gets 200 with its registration. A registration holds for seven days until it is financed.',
  params: {},
  body: z.union([RegistrationRequestBody, BlindRegistrationBody]),
  responses: waitingResponses({ 200: RegistrationSchema, 201: RegistrationSchema }),
  perform: (context) => runRegistration(context, context.body),
})

/** Has a receivable registered. @param admit what else must hold, in its transaction @throws RateLimitedError */
export async function runRegistration(
  context: JobContext,
  body: z.output<typeof RegistrationRequestBody> | z.output<typeof BlindRegistrationBody>,
  admit?: (tx: Knex.Transaction) => Promise<void>,
): Promise<StoredAnswer> {
  const { dueDate = null, dealId = null, lenderRef = null, ...fields } = body
  const { caller, deps } = context
  const request: RegistrationBody = { fields, dueDate, dealId, lenderRef }
  return await runJob(context, {
    kind: 'financing.registration',
    message: financingRequested,
    folder: FOLDER,
    request,
    async before(tx) {
      await limitOpen(tx, caller, deps)
      await countInput(tx, caller, fields, { isCheck: false }, deps)
      await admit?.(tx)
    },
  })
}

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
  path: `${FOLDER}/{registrationId}`,
  operationId: 'getRegistration',
  summary: 'One of the organisation’s own registrations',
  params,
  responses: pollingResponses(HolderRegistrationSchema),
  async handle({ caller, params: { registrationId: id }, deps }) {
    const registration = isUuid(id) ? await findRegistration(deps.db, caller, id) : undefined
    if (!registration) {
      const kinds = ['financing.registration', 'financing.acceptance'] as const
      const job = { folder: FOLDER, id, what: 'registration' }
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
  path: FOLDER,
  operationId: 'listRegistrations',
  summary: 'The organisation’s own registrations, newest first',
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

/** @throws NotFoundError unless it is one's own */
export async function requireRegistration(tx: Knex.Transaction, owner: Owner, id: string): Promise<Registration> {
  const registration = isUuid(id) ? await findRegistration(tx, owner, id) : undefined
  const locked = registration && (await lockRegistration(tx, id))
  if (!locked) throw new NotFoundError('there is no such registration')
  return locked
}

/** @throws ValidationError for a receivable that was financed before its document existed */
function refuseFinancedBefore(documentDate: string | undefined, financedOn: string | undefined): void {
  if (documentDate === undefined || financedOn === undefined || financedOn >= documentDate) return
  const message = 'financedOn must not be before documentDate'
  throw validationError([{ path: 'financedOn', code: 'TOO_EARLY', message }])
}

const SUMMARIES = {
  finance: 'Say that the receivable is financed',
  release: 'Release a financed receivable: others may register it',
  cancel: 'Give up a registration that was not financed',
  renew: 'Hold it longer: a registration twice by seven days, a financed one by 180',
} as const

const moves = (['finance', 'release', 'cancel', 'renew'] as const).map((action) =>
  write({
    ...common,
    path: `${FOLDER}/{registrationId}/${action}`,
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

/** Hours for which an offer is open. */
const OFFER_MS = 72 * 3_600_000

const transferRoute = write({
  ...common,
  path: `${FOLDER}/{registrationId}/transfer`,
  operationId: 'offerTransfer',
  summary: 'Offer a financed receivable to whoever brings the token',
  description: 'The token is shown this once, works once and for 72 hours; a new offer replaces it.',
  params,
  body: MoveBody,
  isBodyOptional: true,
  seal: true,
  returns: z.object({ registrationId: z.uuid(), transferToken: z.string(), expiresAt: z.string() }),
  handle: ({ caller, params: { registrationId }, tx, deps }) => createTransferOffer(tx, caller, registrationId, deps),
})

/** Offers an own registration to whoever brings the token. @throws NotFoundError, ConflictError */
export async function createTransferOffer(tx: Knex.Transaction, owner: Owner, id: string, deps: IngressDeps) {
  const registration = await requireRegistration(tx, owner, id)
  const nowMs = toMillis(deps.now())
  if (stateAfter(registration, 'transfer', nowMs) === null) {
    const state = stateAt(registration, nowMs)
    const message = `a registration that is ${state} cannot be transferred`
    throw new ConflictError(message, [{ path: 'registrationId', code: state, message }])
  }
  const transferToken = randomBytes(32).toString('base64url')
  const expiresAt = new Date(nowMs + OFFER_MS)
  await offerTransfer(tx, registration.id, deps.secrets.digest(transferToken), expiresAt)
  return { registrationId: registration.id, transferToken, expiresAt: expiresAt.toISOString() }
}

const acceptRoute = write({
  ...common,
  path: '/v1/first-financing/transfers/accept',
  operationId: 'acceptTransfer',
  summary: 'Take over a financed receivable with its token',
  params: {},
  body: z.union([AcceptBody, BlindAcceptBody]),
  responses: waitingResponses({ 201: RegistrationSchema }),
  async perform(context) {
    const { caller, deps } = context
    const { transferToken } = context.body
    const request: AcceptanceRequest = { transferToken, receivable: receivableOf(context.body) }
    return await runJob(context, {
      kind: 'financing.acceptance',
      message: financingRequested,
      folder: FOLDER,
      request,
      before: (tx) => countInput(tx, caller, request.receivable, { isCheck: false }, deps),
    })
  },
})

export const registrationRoutes: readonly Route[] = [
  registerRoute,
  listRoute,
  readRegistration,
  ...moves,
  transferRoute,
  acceptRoute,
]
