import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type BrokerControl, createVhosts } from '../../stack/broker-admin.ts'

// The virtual hosts of one run. They are made ahead, many at once, and stay until the run ends: deleting virtual hosts
// under load made RabbitMQ stop answering altogether. Each is a file in the pool's folder, below `ready` or `taken`, so
// that test processes share the pool; a move of the file takes the host.

/** How many are made when none is left: one call costs about the same for one as for this many. */
const MORE = 8

/** Makes the pool's folder and its first virtual hosts. @param count how many; 0 makes none ahead */
export async function makeVhostPool(
  folder: string,
  broker: { url: string; control: BrokerControl },
  count: number,
): Promise<void> {
  for (const state of ['ready', 'taken']) mkdirSync(join(folder, state), { recursive: true })
  if (count > 0) await addVhosts(folder, broker, count)
}

/** Takes a virtual host that nobody in this run had before. @returns its name */
export async function takeVhost(folder: string, broker: { url: string; control: BrokerControl }): Promise<string> {
  for (;;) {
    const ready = await readdir(join(folder, 'ready'))
    for (const name of ready) {
      if (await isTaken(folder, name)) return name
    }
    await addVhosts(folder, broker, MORE)
  }
}

/** The names of all virtual hosts of the run. */
export function vhostsOf(folder: string): string[] {
  return ['ready', 'taken'].flatMap((state) => readdirSync(join(folder, state)))
}

async function addVhosts(
  folder: string,
  { url, control }: { url: string; control: BrokerControl },
  count: number,
): Promise<void> {
  const run = randomBytes(4).toString('hex')
  const names = Array.from({ length: count }, (_, index) => `signalbox-test-${run}-${index}`)
  await createVhosts(control, url, names)
  for (const name of names) writeFileSync(join(folder, 'ready', name), '')
}

async function isTaken(folder: string, name: string): Promise<boolean> {
  try {
    await rename(join(folder, 'ready', name), join(folder, 'taken', name))
    return true
  } catch {
    return false // another process was faster
  }
}
