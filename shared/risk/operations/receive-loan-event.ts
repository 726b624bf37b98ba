import { hash, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import type { ApiEnv } from '../../environment.ts'
import type { Enqueue, Outbox } from '../../platform/broker/outbox.ts'
import { type Micros, toIsoMillis } from '../../time.ts'
import { anchorObject } from '../../transparency/anchoring/store.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import { type Mapped, mapRecord, recognise, type SourceRecord } from '../colending/map-record.ts'
import { type EvidenceContract, loanRefHash, type MappedRecord, type Mapping } from '../colending/mapping.ts'
import { MAPPINGS } from '../colending/mappings/registry.ts'
import { claimInboundEvent, insertInbound } from '../colending/store.ts'
import { recordUsage } from '../metering/store.ts'

interface LoanEventDeps {
  outbox: Pick<Outbox, 'run'>
  loanRefKey(env: ApiEnv): Promise<Buffer>
  now(): Micros
}

export interface Integration {
  id: string
  organisationId: number
  env: ApiEnv
}

export interface InboundRequest extends SourceRecord {
  /** exact bytes of the request */
  raw: Buffer
}

/** Equal for a repetition. */
export interface Received {
  answer: string
  isReplay: boolean
}

/** Stores an event without a mapping as proof of receipt. */
export async function receiveLoanEvent(
  deps: LoanEventDeps,
  integration: Integration,
  request: InboundRequest,
): Promise<Received> {
  const mapping = recognise(MAPPINGS, request)
  const mapped = mapping ? mapRecord(mapping, request) : null
  const sourceKey = sourceKeyOf(request, mapped?.eventId ?? null)
  return await deps.outbox.run(async (tx, enqueue) => {
    const known = await claimInboundEvent(tx, integration.id, sourceKey)
    if (known !== null) return { answer: known, isReplay: true }
    const inbound = { tx, enqueue, deps, integration, request, sourceKey }
    const answer =
      mapping && mapped?.record && mapped.loanRef !== null
        ? await storeMapped(inbound, mapping, mapped, mapped.record, mapped.loanRef)
        : await storeUnmapped(inbound, mapping, mapped)
    return { answer, isReplay: false }
  })
}

interface Inbound {
  tx: Knex.Transaction
  enqueue: Enqueue
  deps: LoanEventDeps
  integration: Integration
  request: InboundRequest
  sourceKey: Buffer
}

async function storeMapped(
  inbound: Inbound,
  mapping: Mapping,
  mapped: Mapped,
  record: MappedRecord,
  loanRef: string,
): Promise<string> {
  const { tx, enqueue, deps, integration, request, sourceKey } = inbound
  const { organisationId, env } = integration
  const receivedAt = toIsoMillis(deps.now())
  const loan = loanRefHash(await deps.loanRefKey(env), organisationId, loanRef)
  const object: Omit<EvidenceContract, 'anchor'> = {
    contractId: randomUUID(),
    sourceSystem: mapping.sourceSystem,
    sourceFormat: mapping.id,
    sourceRecordSha256: hash('sha256', request.raw, 'hex'),
    loanRef: loan.toString('hex'),
    ...record,
    timestamp: receivedAt,
  }
  const anchor = await anchorObject(tx, env, record.eventType, receivedAt, object)
  const { contractId, eventType } = object
  const answer = JSON.stringify({ received: true, mapped: true, contractId, eventType, reason: null, anchor })
  await insertInbound(tx, {
    id: contractId,
    organisationId,
    env,
    integrationId: integration.id,
    sourceKey,
    mapping: mapping.id,
    sourceEvent: mapped.sourceEvent,
    reason: null,
    loanRef: loan,
    body: canonicalize({ ...object, anchor }),
    answer,
    receivedAt,
  })
  await recordUsage(tx, { organisationId, env, family: 'colending', unitKey: `lms/${contractId}` })
  await recordEvent(tx, enqueue, {
    env,
    organisationId,
    type: 'lms.event_mapped',
    dealId: mapped.dealId ?? contractId,
    fields: ['contractId', 'loanRef', ...disclosed(record)],
    occurredAt: receivedAt,
  })
  return answer
}

async function storeUnmapped(inbound: Inbound, mapping: Mapping | undefined, mapped: Mapped | null): Promise<string> {
  const { tx, deps, integration, sourceKey } = inbound
  const reason = mapped?.reason ?? 'FORMAT_UNKNOWN'
  const answer = JSON.stringify({
    received: true,
    mapped: false,
    contractId: null,
    eventType: null,
    reason,
    anchor: null,
  })
  await insertInbound(tx, {
    id: randomUUID(),
    organisationId: integration.organisationId,
    env: integration.env,
    integrationId: integration.id,
    sourceKey,
    mapping: mapping?.id ?? '',
    sourceEvent: mapped?.sourceEvent ?? null,
    reason,
    loanRef: null,
    body: null,
    answer,
    receivedAt: toIsoMillis(deps.now()),
  })
  return answer
}

/** Without an event id, hashes the bytes and the relevant headers. */
function sourceKeyOf({ raw, headers }: InboundRequest, eventId: string | null): Buffer {
  if (eventId !== null) return hash('sha256', `id:${eventId}`, 'buffer')
  const meaning = `${headers['x-fineract-entity'] ?? ''}/${headers['x-fineract-action'] ?? ''}`
  return hash('sha256', Buffer.concat([Buffer.from(`body:${meaning}\n`), raw]), 'buffer')
}

function disclosed(record: MappedRecord): string[] {
  const isKnown = (value: unknown): boolean =>
    typeof value === 'object' && value !== null ? Object.values(value).some(isKnown) : value !== null
  return Object.entries(record)
    .filter(([name, value]) => name !== 'unmapped' && isKnown(value))
    .map(([name]) => name)
}
