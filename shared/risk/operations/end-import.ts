import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import type { Failure, Import, Progress } from '../colending/imports/import.ts'
import { completeImport, failImport } from '../colending/imports/import-store.ts'
import { type RowTree, treeRoot } from '../colending/imports/row-tree.ts'
import { deleteChunks } from '../colending/imports/upload-store.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import { recordUnits } from '../metering/store.ts'
import { instant, type OperationDeps } from './deps.ts'

const EVENT_TYPE = 'colending.import_finished'
/** Accepted rows that are one unit. */
const ROWS_OF_UNIT = 1_000

type EndDeps = Pick<OperationDeps, 'enqueue' | 'now'>

/** Ends an import whose rows are all stored: anchors their root, counts its units, shows its rows, tells of it. */
export async function finishImport(
  tx: Knex.Transaction,
  found: Import,
  progress: Progress,
  tree: RowTree,
  deps: EndDeps,
): Promise<void> {
  const { id, organisationId, env } = found
  const timestamp = instant(deps.now())
  const facts = { importRecordId: randomUUID(), rows: tree.range.size, root: treeRoot(tree) }
  const record = await anchorRecord(tx, env, EVENT_TYPE, timestamp, facts)
  await completeImport(tx, id, {
    hasErrors: progress.errors > 0,
    progress,
    record: canonicalize(record),
    blockRoots: Buffer.concat(tree.blockRoots),
  })
  await deleteChunks(tx, id)
  const units = Array.from({ length: Math.ceil(progress.accepted / ROWS_OF_UNIT) }, (_, n) => `import/${id}/${n}`)
  const family = 'colending' as const
  if (units.length > 0)
    await recordUnits(
      tx,
      units.map((unitKey) => ({ organisationId, env, family, unitKey })),
    )
  await notify(tx, found, ['importId', 'status', 'counts', 'record'], timestamp, deps)
}

/** Ends an import as failed: nothing of its rows is kept. */
export async function giveUpImport(
  tx: Knex.Transaction,
  found: Import,
  failure: Failure,
  progress: Progress | null,
  deps: EndDeps,
): Promise<void> {
  await failImport(tx, found.id, failure, progress)
  await notify(tx, found, ['importId', 'status', 'failure'], instant(deps.now()), deps)
}

async function notify(
  tx: Knex.Transaction,
  { id, organisationId, env }: Import,
  fields: string[],
  occurredAt: string,
  { enqueue }: EndDeps,
): Promise<void> {
  await recordEvent(tx, enqueue, { env, organisationId, type: EVENT_TYPE, dealId: id, fields, occurredAt })
}
