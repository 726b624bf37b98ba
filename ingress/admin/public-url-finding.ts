import type { Config } from '#shared/platform/process/config.ts'
import { ARRIVED_PATH } from '../base-path.ts'
import type { Finding } from './command.ts'

const TIMEOUT_MS = 5_000

/** Requests `/livez` through the public address, which shows if the proxy passes on the path of PUBLIC_URL. */
export async function publicUrlFinding({ publicUrl, basePath }: Config): Promise<Finding> {
  const what = 'PUBLIC_URL'
  const isLocal = /^http:\/\/(localhost|127\.)/.test(publicUrl)
  const shown = isLocal ? `${publicUrl}: links only work on this machine` : publicUrl
  try {
    const answer = await fetch(`${publicUrl}/livez`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    await answer.body?.cancel()
    const path = answer.headers.get(ARRIVED_PATH)
    if (!answer.ok || path === null) {
      const text = `${shown}; ${basePath}/livez answers ${answer.status} and is not this service: pass ${basePath}/ on to it (docs/operations.md)`
      return { what, ok: false, text }
    }
    return { what, ok: true, text: `${shown}; ${basePath}/livez arrives as ${path}` }
  } catch (error) {
    // The machine of the command may have no route to the public address, which is no fault.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const code = cause instanceof Error && 'code' in cause ? cause.code : 'no answer'
    return { what, ok: true, text: `${shown}; not reached from this machine (${code})` }
  }
}
