import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort as unusedPort } from '../../stack/wait-until-ready.ts'

const TRIES = 50

/**
 * Returns a free TCP port on the loopback that no other test of this run gets: seconds pass between our check and the
 * listening, in which hundreds of other tests check too.
 * @throws Error when none of those tried was free
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = await unusedPort()
    if (isTaken(port)) return port
  }
  throw new Error(`each of ${TRIES} free ports was given to another test of this run`)
}

/** Reserves the port for this process by a file of its name. Not needed for a file that AVA runs alone. */
function isTaken(port: number): boolean {
  const folder = process.env.TEST_PORTS
  if (!folder) return true
  try {
    writeFileSync(join(folder, String(port)), '', { flag: 'wx' })
    return true
  } catch {
    return false
  }
}
