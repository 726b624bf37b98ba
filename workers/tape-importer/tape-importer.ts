import { tapeUploaded } from '#shared/contracts/worker-messages.ts'
import { type MessageContext, on, subscribe } from '#shared/platform/broker/worker.ts'
import { type Failure, hasEnded, type Import } from '#shared/risk/colending/imports/import.ts'
import { findImport, lockImport } from '#shared/risk/colending/imports/import-store.ts'
import { listHashes } from '#shared/risk/colending/imports/row-store.ts'
import { addBlock, BLOCK_ROWS, emptyTree, type RowTree } from '#shared/risk/colending/imports/row-tree.ts'
import { findFileMapping, TAPE_MAPPINGS } from '#shared/risk/colending/mappings/registry.ts'
import { cachedPerEnv } from '#shared/risk/domain-keys/cache.ts'
import { ensureKey } from '#shared/risk/domain-keys/store.ts'
import { abandonImport, finishImport } from '#shared/risk/operations/imports.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'
import { csvRecords, FileRefusedError } from './csv-records.ts'
import { ImportRun, TakenOverError } from './import-run.ts'
import { type Found, interpretTape } from './interpret.ts'
import { interpretBureau } from './interpret-bureau.ts'
import { readFile } from './read-file.ts'

/** Low, because each import needs memory for chunks, and database time. */
const PREFETCH = 2
/** A file of 20 MiB takes seconds; on a busy machine, minutes. */
const DEADLINE_MS = 20 * 60_000

/** Imports loan tapes and bureau files. Cell contents must not appear in stored errors. */
export const tapeImporter: Worker = {
  name: 'tape-importer',
  start(deps) {
    const loanRefKey = cachedPerEnv((env) => ensureKey(deps.db, deps.secrets, env, 'loan-ref'))

    async function handle({ importId }: { importId: string }, { progressed }: MessageContext): Promise<void> {
      const found = await findImport(deps.db, importId)
      if (!found || hasEnded(found.state)) return
      const run = new ImportRun(deps.outbox, found, await loanRefKey(found.env), async () => {
        await progressed()
        deps.crashPoint('import-batch-stored')
      })
      try {
        for await (const records of recordsOf(deps, found)) await run.take(records)
        await run.store()
        await complete(deps, found, run)
      } catch (error) {
        // The current transaction updates the progress, and must end before the message.
        await run.settled()
        if (error instanceof TakenOverError) return
        if (!(error instanceof FileRefusedError)) throw error
        const { line, code, header } = error
        await abandon(deps, found, run, { line, code, ...(header ? { header } : {}) })
      }
    }

    const subscription = on(tapeUploaded, PREFETCH, handle, { deadlineMs: DEADLINE_MS })
    return [subscribe('tape-importer', subscription, deps)]
  },
}

function recordsOf(deps: WorkerDeps, found: Import): AsyncGenerator<Found[]> {
  const bytes = readFile(deps, found)
  const requested = found.requestedMapping === null ? undefined : findFileMapping(found.requestedMapping)
  if (found.kind === 'BUREAU' && requested) return interpretBureau(bytes, requested)
  return interpretTape(csvRecords(bytes), requested ? [requested] : TAPE_MAPPINGS)
}

async function complete(deps: WorkerDeps, found: Import, run: ImportRun): Promise<void> {
  const tree = await treeOf(deps, found.id)
  await deps.outbox.run(async (tx, enqueue) => {
    if (!(await lockImport(tx, found.id, run.recordNo))) return
    await finishImport(tx, found, run.progress, tree, { enqueue, now: deps.now })
    deps.crashPoint('import-half-finished')
  })
}

async function treeOf({ db }: WorkerDeps, importId: string): Promise<RowTree> {
  let tree = emptyTree()
  for (let from = 0; ; from += BLOCK_ROWS) {
    const rows = await listHashes(db, importId, { from, limit: BLOCK_ROWS })
    tree = addBlock(tree, rows)
    if (rows.length < BLOCK_ROWS) return tree
  }
}

async function abandon(deps: WorkerDeps, found: Import, run: ImportRun, failure: Failure): Promise<void> {
  await deps.outbox.run(async (tx, enqueue) => {
    if (!(await lockImport(tx, found.id, run.recordNo))) return
    await abandonImport(tx, found, failure, null, { enqueue, now: deps.now })
  })
}
