import { type BundleId, TILE_WIDTH, type TileId, tilePath } from '#shared/transparency/anchoring/tile-path.ts'

/** The log could not be read. This proves nothing; retry. */
export class UnreachableError extends Error {}

const TIMEOUT_MS = 20_000
/** A full bundle of the largest entries has 16 MiB; ours have some 200 bytes each. */
const MAX_BYTES = 17 * 1024 * 1024

/** The public files of a log below `{base}/v1/transparency/{env}/`. */
export class LogSource {
  readonly #prefix: string

  constructor(base: string, env: string) {
    this.#prefix = `${base.replace(/\/+$/, '')}/v1/transparency/${encodeURIComponent(env)}/`
  }

  async checkpoint(): Promise<string> {
    const bytes = await this.#get('checkpoint')
    if (bytes === undefined) throw new UnreachableError('the log publishes no checkpoint')
    return Buffer.from(bytes).toString()
  }

  /**
   * Returns a tile or bundle. A partial one may be deleted once the full one exists, which is then read.
   * @returns its id, at least as wide as requested; undefined if the log does not have it
   */
  async tile<T extends TileId | BundleId>(id: T): Promise<{ width: number; data: Uint8Array } | undefined> {
    const data = await this.#get(tilePath(id))
    if (data !== undefined) return { width: id.width, data }
    if (id.width === TILE_WIDTH) return undefined
    const full = await this.#get(tilePath({ ...id, width: TILE_WIDTH }))
    return full === undefined ? undefined : { width: TILE_WIDTH, data: full }
  }

  /** @returns undefined for 404 @throws UnreachableError for any other status than 200 */
  async #get(path: string): Promise<Uint8Array | undefined> {
    try {
      const response = await fetch(this.#prefix + path, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
      if (response.status === 404) {
        await response.body?.cancel()
        return undefined
      }
      if (!response.ok || response.body === null) {
        await response.body?.cancel()
        throw new UnreachableError(`${path} was answered ${response.status}`)
      }
      const chunks: Uint8Array[] = []
      let size = 0
      for await (const chunk of response.body) {
        size += chunk.length
        if (size > MAX_BYTES) throw new UnreachableError(`${path} is larger than ${MAX_BYTES} bytes`)
        chunks.push(chunk)
      }
      return Buffer.concat(chunks)
    } catch (error) {
      if (error instanceof UnreachableError) throw error
      throw new UnreachableError(`${path} could not be read`, { cause: error })
    }
  }
}
