import type { Knex } from 'knex'
import type { ApiEnv } from '#shared/environment.ts'
import { describeError, type Log } from '#shared/platform/process/log.ts'
import type { CheckpointAdapter } from '#shared/transparency/anchoring/checkpoint-adapter.ts'
import { parseNote } from '#shared/transparency/anchoring/note.ts'
import { latestCheckpoint } from '#shared/transparency/anchoring/store.ts'
import {
  confirmReceipt,
  dueReceipts,
  hasReceipt,
  insertReceipt,
  postponeReceipt,
  tryLockReceipts,
  wasSubmittedWithin,
} from '#shared/transparency/log-receipts/store.ts'

/** Minimum time between two submissions. The network is free and limits requests. */
const SUBMIT_EVERY_SECONDS = 600
const POLL_BATCH = 20

interface OutsideDeps {
  db: Knex
  log: Log
}

/** Submits the newest checkpoint to an outside network, and polls earlier submissions. */
export async function submitOutside(deps: OutsideDeps, env: ApiEnv, adapter: CheckpointAdapter): Promise<void> {
  await deps.db.transaction(async (lock) => {
    if (!(await tryLockReceipts(lock, env))) return
    await submitNewest(deps, env, adapter)
    await pollDue(deps, env, adapter)
  })
}

async function submitNewest({ db, log }: OutsideDeps, env: ApiEnv, adapter: CheckpointAdapter): Promise<void> {
  const { network } = adapter
  const checkpoint = (await latestCheckpoint(db, env, 'witnessed')) ?? (await latestCheckpoint(db, env))
  if (!checkpoint || (await hasReceipt(db, env, checkpoint.size, network))) return
  if (await wasSubmittedWithin(db, env, network, SUBMIT_EVERY_SECONDS)) return
  try {
    await insertReceipt(db, env, checkpoint.size, await adapter.submit(parseNote(checkpoint.note).text))
    log.info({ env, network, size: checkpoint.size }, 'checkpoint.submitted')
  } catch (error) {
    log.warn({ env, network, ...describeError(error) }, 'checkpoint.not-submitted')
  }
}

async function pollDue({ db, log }: OutsideDeps, env: ApiEnv, adapter: CheckpointAdapter): Promise<void> {
  for (const { size, receipt } of await dueReceipts(db, env, POLL_BATCH)) {
    if (receipt.network !== adapter.network) continue
    try {
      const polled = await adapter.poll(receipt)
      if (polled.state === 'EXTERNAL') {
        await confirmReceipt(db, env, size, polled)
        log.info({ env, network: receipt.network, size }, 'checkpoint.external')
        continue
      }
    } catch (error) {
      log.warn({ env, network: receipt.network, size, ...describeError(error) }, 'receipt.not-polled')
    }
    await postponeReceipt(db, env, size, receipt.network)
  }
}
