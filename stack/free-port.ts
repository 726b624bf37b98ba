import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below the ports that Linux (32768 and up) and the BSDs (49152 and up) give to outgoing connections: a port from among
 * those may be taken by anybody's next connection between our look and our listening.
 */
const [LOWEST, HIGHEST] = [20_000, 32_767]
const TRIES = 50

/**
 * A TCP port on the loopback that nobody listens on right now.
 * @throws Error when none of those tried was free
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(LOWEST, HIGHEST + 1)
    if ((await portTrouble(port)) === undefined) return port
  }
  throw new Error(`no free port among ${TRIES} between ${LOWEST} and ${HIGHEST}`)
}

/** Why a port cannot be listened on, by the system's code (`EADDRINUSE`, `EACCES`); undefined when it can. */
export async function portTrouble(port: number, host = '0.0.0.0'): Promise<string | undefined> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  } finally {
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
}
