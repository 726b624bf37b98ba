import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort as unusedPort } from '../../stack/wait-until-ready.ts'

const TRIES = 50

/**
 * A TCP port on the loopback that nobody listens on, and that no other test of this run is given: seconds pass between
 * our look and the listening, in which hundreds of others look too.
 * @throws Error when none of those tried was free
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = await unusedPort()
    if (isTaken(port)) return port
  }
  throw new Error(`each of ${TRIES} free ports was given to another test of this run`)
}

/** Takes the port for this process by a file of its name. A file that is run by AVA alone has no others to mind. */
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
