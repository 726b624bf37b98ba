import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { receivableName } from '../first-financing/fingerprint-input.ts'
import { identityOf, type ReceivableFields } from '../first-financing/receivable.ts'
import { panOfGstin } from '../identifiers/gstin.ts'
import type { AcceptanceAction } from './acceptance.ts'
import type { AdjustmentKind } from './dilution.ts'
import type { Timeline } from './timeline.ts'

/** Transitions are decided one at a time. */
export async function lockReceivable(tx: Knex.Transaction, owner: Owner, ref: string): Promise<void> {
  await execute(tx, 'SELECT pg_advisory_xact_lock(hashtextextended(?, 17))', [
    `${owner.organisationId}/${owner.env}/${ref}`,
  ])
}

/** Time of the buyer's action, from the record: all have the same form of RFC 3339. */
const AT = `(x.body::json ->> 'at') COLLATE "C"`

const NEIGHBOURING_ACTIONS_COLUMNS = columns<{ before: AcceptanceAction | null; after: AcceptanceAction | null }>()(`
  (array_agg(x.action ORDER BY ${AT} DESC, x.seq DESC) FILTER (WHERE ${AT} <= ?))[1] AS before,
  (array_agg(x.action ORDER BY ${AT}, x.seq) FILTER (WHERE ${AT} > ?))[1] AS after`)

/** Records of one time are in the order of their arrival. */
export async function neighbouringActions(
  db: Knex,
  owner: Owner,
  ref: string,
  at: string,
): Promise<{ before: AcceptanceAction | null; after: AcceptanceAction | null }> {
  const [row] = await query(
    db,
    typed`SELECT ${NEIGHBOURING_ACTIONS_COLUMNS}
     FROM acceptance_records x WHERE x.organisation_id = ? AND x.env = ? AND x.receivable_ref = ?`,
    [at, at, owner.organisationId, owner.env, ref],
  )
  return row ?? { before: null, after: null }
}

export async function insertRecord(
  tx: Knex,
  owner: Owner,
  record: {
    id: string
    ref: string
    action: AcceptanceAction
    registryAction: AcceptanceAction | null
    body: string
  },
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO acceptance_records (id, organisation_id, env, receivable_ref, action, registry_action, body)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [record.id, owner.organisationId, owner.env, record.ref, record.action, record.registryAction, record.body],
  )
}

export async function insertAdjustment(
  tx: Knex,
  owner: Owner,
  adjustment: { id: string; ref: string; kind: AdjustmentKind; paise: number; at: string; body: string },
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO acceptance_adjustments (id, organisation_id, env, receivable_ref, kind, amount_paise, at, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      adjustment.id,
      owner.organisationId,
      owner.env,
      adjustment.ref,
      adjustment.kind,
      adjustment.paise,
      adjustment.at,
      adjustment.body,
    ],
  )
}

const RECEIVABLE_COLUMNS = columns<{
  identity: string
  buyerGstin: string
  documentDate: string
  amountPaise: number
}>()(`
  identity, buyer_gstin, to_char(document_date, 'YYYY-MM-DD') AS documentDate, amount_paise`)

/** Does not change an existing receivable. Returns if it is the same one. */
export async function saveReceivable(tx: Knex, owner: Owner, ref: string, fields: ReceivableFields): Promise<boolean> {
  const identity = identityOf(fields)
  const name = receivableName(identity)
  const [row] = await query(
    tx,
    typed`INSERT INTO acceptance_receivables
       (organisation_id, env, receivable_ref, supplier_gstin, buyer_gstin, identity, document_date, amount_paise)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (organisation_id, env, receivable_ref) DO UPDATE SET identity = acceptance_receivables.identity
     RETURNING ${RECEIVABLE_COLUMNS}`,
    [
      owner.organisationId,
      owner.env,
      ref,
      identity.supplierGstin,
      identity.buyerGstin,
      name,
      identity.documentDate,
      identity.totalPaise,
    ],
  )
  return (
    row?.identity === name &&
    panOfGstin(row.buyerGstin) === panOfGstin(identity.buyerGstin) &&
    row.documentDate === identity.documentDate &&
    Math.floor(row.amountPaise / 100) === Math.floor(identity.totalPaise / 100)
  )
}

const ADJUSTMENT_COLUMNS = columns<Timeline['adjustments'][number]>()('body, kind, amount_paise AS paise')

const RECORD_COLUMNS = columns<Timeline['records'][number]>()('body, action, registry_action')

export async function findTimeline(db: Knex, owner: Owner, ref: string): Promise<Timeline | undefined> {
  const values = [owner.organisationId, owner.env, ref]
  const records = await query(
    db,
    typed`SELECT ${RECORD_COLUMNS} FROM acceptance_records
     WHERE organisation_id = ? AND env = ? AND receivable_ref = ? ORDER BY seq LIMIT 500`,
    values,
  )
  const adjustments = await query(
    db,
    typed`SELECT ${ADJUSTMENT_COLUMNS} FROM acceptance_adjustments
     WHERE organisation_id = ? AND env = ? AND receivable_ref = ? ORDER BY seq LIMIT 500`,
    values,
  )
  const [known] = await query<{ amountPaise: number }>(
    db,
    `SELECT amount_paise AS "amountPaise" FROM acceptance_receivables
     WHERE organisation_id = ? AND env = ? AND receivable_ref = ?`,
    values,
  )
  if (!known && records.length + adjustments.length === 0) return undefined
  return { records, adjustments, amountPaise: known?.amountPaise ?? null }
}

const RECORDS_COLUMNS = columns<{ seq: number; body: string }>({ seq: 'seq', body: 'body' })

/** Newest first; `before` is the `seq` of the last row of the previous page. */
export async function listRecords(
  db: Knex,
  owner: Owner,
  before: number | null,
  limit: number,
): Promise<{ seq: number; body: string }[]> {
  return await query(
    db,
    typed`SELECT ${RECORDS_COLUMNS} FROM acceptance_records
     WHERE organisation_id = ? AND env = ? AND (?::bigint IS NULL OR seq < ?) ORDER BY seq DESC LIMIT ?`,
    [owner.organisationId, owner.env, before, before, limit],
  )
}

export interface PairHistory {
  actions: AcceptanceAction[]
  /** credit notes with their receivable; days from the document to the note */
  notes: { paise: number; amountPaise: number; days: number }[]
  /** open disputes, in paise */
  disputes: number[]
}

const NOTE_COLUMNS = columns<PairHistory['notes'][number]>()(`
  x.amount_paise AS paise, v.amount_paise, (x.at AT TIME ZONE 'Asia/Kolkata')::date - v.document_date AS days`)

const DISPUTE_COLUMNS = columns<{ kind: string; paise: number }>({ kind: 'x.kind', paise: 'x.amount_paise' })

export async function findPairHistory(
  db: Knex,
  owner: Owner,
  supplierGstin: string,
  buyerGstin: string,
): Promise<PairHistory> {
  const values = [owner.organisationId, owner.env, supplierGstin, buyerGstin]
  const ofPair = `FROM acceptance_receivables v JOIN`
  const same = `x.organisation_id = v.organisation_id AND x.env = v.env AND x.receivable_ref = v.receivable_ref
     WHERE v.organisation_id = ? AND v.env = ? AND v.supplier_gstin = ? AND v.buyer_gstin = ?`
  const actions = await query<{ action: AcceptanceAction }>(
    db,
    `SELECT DISTINCT ON (v.receivable_ref) x.action ${ofPair} acceptance_records x ON ${same}
     ORDER BY v.receivable_ref, ${AT} DESC, x.seq DESC`,
    values,
  )
  const notes = await query(
    db,
    typed`SELECT ${NOTE_COLUMNS} ${ofPair} acceptance_adjustments x ON ${same} AND x.kind = 'CREDIT_NOTE' LIMIT 10000`,
    values,
  )
  const disputes = await query(
    db,
    typed`SELECT DISTINCT ON (v.receivable_ref) ${DISPUTE_COLUMNS} ${ofPair} acceptance_adjustments x ON ${same} AND x.kind IN ('DISPUTE_OPENED', 'DISPUTE_CLOSED')
     ORDER BY v.receivable_ref, x.seq DESC`,
    values,
  )
  return {
    actions: actions.map(({ action }) => action),
    notes,
    disputes: disputes.filter(({ kind }) => kind === 'DISPUTE_OPENED').map(({ paise }) => paise),
  }
}

export async function acceptanceOf(db: Knex, owner: Owner, identity: string): Promise<AcceptanceAction | null> {
  return (await acceptancesOf(db, owner, [identity])).get(identity) ?? null
}

const ACCEPTANCES_COLUMNS = columns<{ identity: string; action: AcceptanceAction }>()('v.identity, action')

export async function acceptancesOf(
  db: Knex,
  owner: Owner,
  identities: readonly string[],
): Promise<Map<string, AcceptanceAction>> {
  const rows = await query(
    db,
    typed`SELECT DISTINCT ON (v.identity) ${ACCEPTANCES_COLUMNS}
     FROM acceptance_receivables v JOIN acceptance_records x
       ON x.organisation_id = v.organisation_id AND x.env = v.env AND x.receivable_ref = v.receivable_ref
     WHERE v.organisation_id = ? AND v.env = ? AND v.identity = ANY(?::text[])
     ORDER BY v.identity, ${AT} DESC, x.seq DESC`,
    [owner.organisationId, owner.env, [...identities]],
  )
  return new Map(rows.map(({ identity, action }) => [identity, action]))
}
