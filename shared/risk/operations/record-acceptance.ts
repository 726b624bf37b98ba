import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { ConflictError } from '../../errors.ts'
import type { FieldCode } from '../../field-codes.ts'
import type { Owner } from '../../jobs/job.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import {
  type AcceptanceBody,
  type AdjustmentBody,
  acceptanceTier,
  isAfterAcceptance,
  mayFollow,
  type Sources,
} from '../acceptance/acceptance.ts'
import {
  insertAdjustment,
  insertRecord,
  lockReceivable,
  neighbouringActions,
  saveReceivable,
} from '../acceptance/store.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import { recordUsage } from '../metering/store.ts'
import { parsePaise } from '../packs/money.ts'
import { instant, type OperationDeps } from './deps.ts'

const RECORDED = 'acceptance.recorded'
const DISPUTED = 'acceptance.disputed'
const ADJUSTED = 'acceptance.adjusted'

export type AcceptanceInput = Omit<AcceptanceBody, 'declaredBy'> & {
  declaredBy: AcceptanceBody['declaredBy'] | 'BUYER'
  requestId?: string
}

/** DEEMED_ACCEPTED never becomes ACCEPTED automatically. */
export async function recordAcceptance(
  tx: Knex.Transaction,
  owner: Owner,
  id: string,
  body: AcceptanceInput,
  sources: Sources,
  deps: Pick<OperationDeps, 'enqueue' | 'now'>,
): Promise<{ record: object } | { refusal: ConflictError }> {
  const { receivableRef, channel, action, declaredBy } = body
  await lockReceivable(tx, owner, receivableRef)
  const at = new Date(body.at).toISOString()
  const { before, after } = await neighbouringActions(tx, owner, receivableRef, at)
  if (before !== null && !mayFollow(before, action)) {
    return conflict('action', before, `${action} does not follow ${before}`)
  }
  if (after !== null && !mayFollow(action, after)) {
    return conflict('at', after, `${after}, which is recorded with a later time, does not follow ${action}`)
  }
  if (body.receivable && !(await saveReceivable(tx, owner, receivableRef, body.receivable))) {
    return conflict('receivable', 'OTHER_RECEIVABLE', 'the reference belongs to another receivable')
  }
  const timestamp = instant(deps.now())
  const record = await anchorRecord(tx, owner.env, RECORDED, timestamp, {
    acceptanceId: id,
    receivableRef,
    channel,
    action,
    amountAccepted: body.amountAccepted ?? null,
    at,
    declaredBy,
    documentSha256: body.documentSha256 ?? null,
    afterAcceptance: isAfterAcceptance(before, action),
    ...(sources.signedBy === null ? {} : { signedBy: sources.signedBy }),
    ...(body.requestId === undefined ? {} : { requestId: body.requestId }),
    tier: acceptanceTier(body, sources),
  })
  await insertRecord(tx, owner, {
    id,
    ref: receivableRef,
    action,
    registryAction: sources.registryAction,
    body: canonicalize(record),
  })
  await recordUsage(tx, {
    ...owner,
    family: 'acceptance',
    unitKey: body.requestId ? `request/${body.requestId}` : `record/${id}`,
  })
  await emitRecorded(
    tx,
    owner,
    receivableRef,
    action === 'REJECTED',
    ['acceptanceId', 'action', 'tier'],
    timestamp,
    deps,
  )
  return { record }
}

export async function recordAdjustment(
  tx: Knex.Transaction,
  owner: Owner,
  body: AdjustmentBody,
  deps: OperationDeps,
): Promise<object> {
  const adjustmentId = randomUUID()
  const { receivableRef, kind, amountInr } = body
  const at = new Date(body.at).toISOString()
  const timestamp = instant(deps.now())
  const record = await anchorRecord(tx, owner.env, ADJUSTED, timestamp, {
    adjustmentId,
    receivableRef,
    kind,
    amountInr,
    at,
    documentSha256: body.documentSha256 ?? null,
  })
  const paise = parsePaise(amountInr) ?? 0
  await insertAdjustment(tx, owner, {
    id: adjustmentId,
    ref: receivableRef,
    kind,
    paise,
    at,
    body: canonicalize(record),
  })
  await recordUsage(tx, { ...owner, family: 'acceptance', unitKey: `adjustment/${adjustmentId}` })
  await emitRecorded(tx, owner, receivableRef, kind === 'DISPUTE_OPENED', ['adjustmentId', 'kind'], timestamp, deps)
  return record
}

async function emitRecorded(
  tx: Knex.Transaction,
  { organisationId, env }: Owner,
  dealId: string,
  isDisputed: boolean,
  fields: readonly string[],
  occurredAt: string,
  { enqueue }: Pick<OperationDeps, 'enqueue'>,
): Promise<void> {
  for (const type of isDisputed ? [RECORDED, DISPUTED] : [RECORDED]) {
    await recordEvent(tx, enqueue, { env, organisationId, type, dealId, fields, occurredAt })
  }
}

function conflict(path: string, code: FieldCode, message: string) {
  return { refusal: new ConflictError(message, [{ path, code, message }]) }
}
