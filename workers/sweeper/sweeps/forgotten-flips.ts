import { checkFlipped } from '#shared/contracts/check-flipped.ts'
import { forgottenFlips } from '#shared/monitoring/notifications/store.ts'
import type { Sweep } from '../sweep.ts'

const PAGE = 500

/** Sends flips round again whose message did not end in notifications. One that is still on its way comes to nothing. */
export const forgottenFlipsSweep: Sweep = {
  name: 'forgotten-flips',
  everySeconds: 60,
  async run({ deps }) {
    await deps.outbox.run(async (tx, enqueue) => {
      for (const flipId of await forgottenFlips(tx, PAGE)) await enqueue(checkFlipped, { flipId })
    })
  },
}
