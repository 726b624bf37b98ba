import type { Knex } from 'knex'
import { type AnchorView, viewAnchor } from '../../transparency/operations/view-anchor.ts'
import type { DayRecord } from '../../transparency/statements/day-record.ts'
import { nameOf } from '../checks/name.ts'
import { uniqueKey } from '../checks/unique-key.ts'
import { type StoredStatement, statedBetween } from '../statements/statement-store.ts'

/** What was stated of a check, with all that proves it offline. */
export interface UptimeProof {
  /** unique_key */
  check: string
  /** as it is called now; nothing proves it */
  name: string
  from: string
  until: string
  records: DayRecord[]
  /** every one from the first of these days to the last, so that the chain shows none is left out */
  statements: StoredStatement[]
  /** of each statement, in their order: what GET /v1/anchors/{txId} answers */
  proofs: AnchorView[]
}

/** Gathers what was stated of a check on days of a project. @param days `YYYY-MM-DD`, both included */
export async function proveUptime(
  db: Knex,
  check: { projectId: number; id: number; uuid: string; name: string },
  { from, until }: { from: string; until: string },
): Promise<UptimeProof> {
  const { statements, records } = await statedBetween(db, {
    projectId: check.projectId,
    checkId: check.id,
    from,
    until,
  })
  const proofs: AnchorView[] = []
  // One after the other: a request takes one connection.
  for (const { anchor } of statements) {
    const view = await viewAnchor(db, anchor.txId)
    if (!view) throw new Error(`the log does not hold ${anchor.txId}`)
    proofs.push(view)
  }
  return { check: uniqueKey(check.uuid), name: nameOf(check), from, until, records, statements, proofs }
}
