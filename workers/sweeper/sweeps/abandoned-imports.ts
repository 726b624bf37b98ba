import { takeExpired } from '#shared/risk/colending/imports/import-store.ts'
import { sweepUploads } from '#shared/risk/colending/imports/upload-store.ts'
import { giveUpImport } from '#shared/risk/operations/end-import.ts'
import type { Sweep } from '../sweep.ts'

const PAGE = 100

/** Forgets uploads that were broken off an hour ago, and gives imports up that have not ended for a day. */
export const abandonedImports: Sweep = {
  name: 'abandoned-imports',
  everySeconds: 60,
  async run({ deps }) {
    while ((await sweepUploads(deps.reserveDb, PAGE)) === PAGE);
    for (let taken = PAGE; taken === PAGE; ) {
      taken = await deps.outbox.run(async (tx, enqueue) => {
        const expired = await takeExpired(tx, PAGE)
        for (const found of expired) {
          await giveUpImport(tx, found, { line: 0, code: 'EXPIRED' }, null, { enqueue, now: deps.now })
        }
        return expired.length
      })
    }
  },
}
