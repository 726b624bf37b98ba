import type { Config } from '#shared/platform/process/config.ts'
import { ARRIVED_PATH } from '../base-path.ts'
import type { Finding } from './command.ts'

const TIMEOUT_MS = 5_000

/**
 * Requests `/livez` at the public address, and reports with which path the request arrived: a proxy may remove the path
 * of PUBLIC_URL.
 */
export async function publicUrlFinding({ publicUrl, basePath }: Config): Promise<Finding> {
  const what = 'PUBLIC_URL'
  const isLocal = /^http:\/\/(localhost|127\.)/.test(publicUrl)
  const shown = isLocal ? `${publicUrl}: links only work on this machine` : publicUrl
  try {
    const answer = await fetch(`${publicUrl}/livez`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    await answer.body?.cancel()
    const arrivedPath = answer.headers.get(ARRIVED_PATH)
    if (!answer.ok || arrivedPath === null) {
      const text = `${shown}; GET ${basePath}/livez returned ${answer.status}${arrivedPath === null ? ', not from this service' : ''}: configure the proxy to forward ${basePath}/ to Signalbox (docs/operations.md)`
      return { what, ok: false, text }
    }
    return { what, ok: true, text: `${shown}; ${basePath}/livez arrives as ${arrivedPath}` }
  } catch (error) {
    // Perhaps no fault: this machine may have no route to the public address.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : 'no answer'
    return { what, ok: true, isRisk: true, text: `${shown}; not reached from this machine (${code})` }
  }
}
