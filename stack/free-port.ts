import { createServer } from 'node:net'

/** A TCP port on the loopback that nobody listens on right now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise<void>((resolve) => server.close(() => resolve()))
  if (address === null || typeof address === 'string') throw new Error('the system gave no port')
  return address.port
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
    server.close()
  }
}
