import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type BrokerControl, createVhosts, vhostUrl } from '../../stack/broker-admin.ts'
import { emptyVhost } from './empty-vhost.ts'

// The virtual hosts of one run. Some are created in advance, and all stay until the run ends: deleting virtual hosts
// under load made RabbitMQ unresponsive. Each is a file in the pool's folder, below `fresh` (never used),
// `used` (released) or `taken`, so that test processes share the pool; moving the file takes the host.

/** Number created when none is left, because one call costs about the same for one as for this many. */
const MORE = 8

const STATES = ['fresh', 'used', 'taken'] as const

interface PoolBroker {
  url: string
  control: BrokerControl
}

/** Creates the pool's folder and its first virtual hosts. @param count number of hosts; 0 creates none in advance */
export async function makeVhostPool(folder: string, broker: PoolBroker, count: number): Promise<void> {
  for (const state of STATES) mkdirSync(join(folder, state), { recursive: true })
  if (count > 0) await addVhosts(folder, broker, count)
}

/**
 * Takes an unused virtual host. A released one is emptied first, which costs a seventh of creating and deleting
 * the product's queues; one that cannot be emptied is skipped.
 * @param isFresh it must be one that no test of this run had before
 * @returns its name
 */
export async function takeVhost(folder: string, broker: PoolBroker, isFresh = false): Promise<string> {
  for (;;) {
    for (const name of isFresh ? [] : await readdir(join(folder, 'used'))) {
      if ((await isMoved(folder, name, 'used', 'taken')) && (await emptyVhost(vhostUrl(broker.url, name)))) return name
    }
    for (const name of await readdir(join(folder, 'fresh'))) {
      if (await isMoved(folder, name, 'fresh', 'taken')) return name
    }
    await addVhosts(folder, broker, MORE)
  }
}

/** Releases a virtual host for other tests. */
export async function giveVhostBack(folder: string, name: string): Promise<void> {
  await isMoved(folder, name, 'taken', 'used')
}

/** The names of all virtual hosts of the run. */
export function vhostsOf(folder: string): string[] {
  return STATES.flatMap((state) => readdirSync(join(folder, state)))
}

async function addVhosts(folder: string, { url, control }: PoolBroker, count: number): Promise<void> {
  const run = randomBytes(4).toString('hex')
  const names = Array.from({ length: count }, (_, index) => `signalbox-test-${run}-${index}`)
  await createVhosts(control, url, names)
  for (const name of names) writeFileSync(join(folder, 'fresh', name), '')
}

type State = (typeof STATES)[number]

async function isMoved(folder: string, name: string, from: State, to: State): Promise<boolean> {
  try {
    await rename(join(folder, from, name), join(folder, to, name))
    return true
  } catch {
    return false // another process was faster
  }
}
