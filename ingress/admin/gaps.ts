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
  summary: 'List the coverage gaps, in which pings could not be accepted, newest first',
  options: {},
  async run(_options, { db }) {
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
  summary: 'End the coverage gap of a listener that will not return, so that its checks are evaluated again',
  help: [
    'While no listener of a kind works, no check that is pinged through it goes down. If the listener was stopped cleanly,',
    'the gap ends after a day. If it was killed, the gap ends when it restarts, or with this command.',
  ],
  options: { listener: { description: 'http or smtp', value: 'LISTENER', required: true } },
  async run(options, { db }) {
    const listener = textOf(options, 'listener')
    if (listener !== 'http' && listener !== 'smtp')
      throw new UsageError(`--listener must be http or smtp, not "${listener}"`)
    const from = toIsoSeconds(await closeGap(db, listener))
    const left = await openGaps(db)
    return {
      json: { listener, missedSince: from, stillOpen: left.filter((gap) => gap.listener !== listener).length },
      text: `the gap of ${listener} since ${from} is ended: the sweeper evaluates its checks within seconds`,
    }
  },
}

export const gapCommands: readonly Command[] = [list, close]
