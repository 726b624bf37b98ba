import { shardsNow } from '#shared/contracts/ping-generations.ts'
import { listGaps, openGaps } from '#shared/monitoring/availability/gap-list-store.ts'
import type { ListedGap } from '#shared/monitoring/availability/notice.ts'
import { closeGap } from '#shared/monitoring/operations/uptime.ts'
import { liveGenerations } from '#shared/platform/database/ping-shards.ts'
import { toIsoSeconds } from '#shared/time.ts'
import { type Command, textOf, UsageError } from './command.ts'

const LISTED = 50
/** Gaps belong to the installation: the number of checks belongs to a project and is not needed. */
const NO_PROJECT = 0

const list: Command = {
  noun: 'gaps',
  verb: 'list',
  summary: 'List the times in which signals could not be taken, newest first',
  options: {},
  async run(_given, { db }) {
    const gaps = await listGaps(db, {
      projectId: NO_PROJECT,
      before: null,
      limit: LISTED,
      shards: shardsNow(await liveGenerations(db)),
    })
    const shown = gaps.map(({ listener, from, until, kind, scope, cause }: ListedGap) => ({
      listener,
      from: toIsoSeconds(from),
      until: until === null ? null : toIsoSeconds(until),
      kind,
      scope,
      cause,
    }))
    const text = shown.map(
      ({ listener, from, until, kind, scope, cause }) =>
        `${listener}  ${from}  ${until ?? 'still open'}  ${kind}, ${scope}  ${cause}`,
    )
    return { json: { gaps: shown }, text: text.join('\n') || 'none' }
  },
}

const close: Command = {
  noun: 'gaps',
  verb: 'close',
  summary: 'Remove a listener that has ended for good, so that its checks are evaluated again',
  help: [
    'While a listener is missing, no check that is pinged through it goes down. A listener that stopped cleanly is',
    'forgotten after a day; one that was killed stays missing until it restarts, or until this command. If it restarts',
    'later, it counts again.',
  ],
  options: { listener: { description: 'http or smtp', value: 'LISTENER', required: true } },
  async run(given, { db }) {
    const listener = textOf(given, 'listener')
    if (listener !== 'http' && listener !== 'smtp') throw new UsageError('--listener is neither http nor smtp')
    const from = toIsoSeconds(await closeGap(db, listener))
    const left = await openGaps(db)
    return {
      json: { listener, missedSince: from, stillOpen: left.filter((gap) => gap.listener !== listener).length },
      text: `${listener} was missed since ${from} and is given up: the sweeper closes the gap within seconds`,
    }
  },
}

export const gapCommands: readonly Command[] = [list, close]
