import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { ConflictError } from '../../errors.ts'
import { toMillis } from '../../time.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import type { Registration } from '../first-financing/receivable.ts'
import { setState } from '../first-financing/registration-store.ts'
import {
  expiryAfter,
  type FinancingAction,
  type FinancingState,
  stateAfter,
  stateAt,
} from '../first-financing/states.ts'
import { indianDay } from '../packs/money.ts'
import { instant, type OperationDeps } from './deps.ts'

export interface MoveDetails {
  /** `YYYY-MM-DD`; default today */
  financedOn?: string | undefined
}

/** A renewal does not change the state, so it has no event. */
const EVENT_TYPES: Partial<Record<FinancingState, string>> = {
  FINANCED: 'first_financing.financed',
  RELEASED: 'first_financing.released',
  CANCELLED: 'first_financing.cancelled',
  LAPSED: 'first_financing.lapsed',
}

/** The owner's endpoints are notified of these. */
const NOTIFIED: ReadonlySet<FinancingState> = new Set(['RELEASED', 'LAPSED'])

/** The caller must have locked the registration. @throws ConflictError if its state does not allow the action */
export async function moveRegistration(
  tx: Knex.Transaction,
  registration: Registration,
  action: Exclude<FinancingAction, 'transfer'>,
  details: MoveDetails,
  deps: Pick<OperationDeps, 'enqueue' | 'now'>,
): Promise<Registration> {
  const now = toMillis(deps.now())
  const state = stateAfter(registration, action, now)
  if (state === null) {
    const current = stateAt(registration, now)
    throw new ConflictError(`${action} is not possible: the registration is ${current}`, [
      { path: 'registrationId', code: current, message: `it is ${current}, renewed ${registration.renewals} times` },
    ])
  }
  const financedOn = action === 'finance' ? (details.financedOn ?? indianDay(now)) : registration.financedOn
  const expires = expiryAfter(
    { ...registration, expiresAt: registration.expiresAt.getTime() },
    action,
    now,
    financedOn ?? indianDay(now),
  )
  const renewals = registration.renewals + (action === 'renew' ? 1 : 0)
  return await setNewState(tx, { ...registration, renewals, financedOn, expiresAt: new Date(expires) }, state, deps)
}

/** The caller must have locked the registration. */
export async function lapseRegistration(
  tx: Knex.Transaction,
  registration: Registration,
  deps: Pick<OperationDeps, 'enqueue' | 'now'>,
): Promise<Registration> {
  return await setNewState(tx, registration, 'LAPSED', deps)
}

async function setNewState(
  tx: Knex.Transaction,
  registration: Registration,
  state: FinancingState,
  deps: Pick<OperationDeps, 'enqueue' | 'now'>,
): Promise<Registration> {
  const { id, env, organisationId, financedOn } = registration
  const eventType = state === registration.state ? undefined : EVENT_TYPES[state]
  const timestamp = instant(deps.now())
  let { record } = registration
  if (eventType !== undefined) {
    const facts = { registrationId: id, state, ...(state === 'FINANCED' ? { financedOn } : {}) }
    record = canonicalize(await anchorRecord(tx, env, eventType, timestamp, facts))
  }
  const moved = { ...registration, state, record }
  await setState(tx, id, moved)
  if (eventType !== undefined && NOTIFIED.has(state)) {
    const dealId = registration.dealId ?? id
    const fields = ['registrationId', 'state']
    await recordEvent(tx, deps.enqueue, { env, organisationId, type: eventType, dealId, fields, occurredAt: timestamp })
  }
  return moved
}
