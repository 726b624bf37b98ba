import { buffer } from 'node:stream/consumers'
import { AnchoringError } from '../anchoring/anchoring-error.ts'

export type Files = ReadonlyMap<string, Buffer>

const MAX_ENTRIES = 1_000
/** DOS times have no zone: a local date has the same bytes in every zone. */
const FIRST_DOS_DAY = new Date(1980, 0, 1)

/** Uncompressed, sorted, with a constant time: equal files give equal bytes. */
export async function writeZip(files: Files): Promise<Buffer> {
  const { ZipFile } = await import('yazl')
  const zip = new ZipFile()
  const names = [...files.keys()].sort((a, b) => (a < b ? -1 : 1))
  for (const name of names) {
    const options = { mtime: FIRST_DOS_DAY, mode: 0o100644, compress: false, forceDosTimestamp: true }
    zip.addBuffer(files.get(name) ?? Buffer.alloc(0), name, options)
  }
  zip.end()
  return await buffer(zip.outputStream)
}

export function isZip(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 4)).equals(Buffer.from('PK\u0003\u0004'))
}

/** Rejects unsafe and repeated names. @throws AnchoringError BAG_MALFORMED */
export async function readZip(bytes: Buffer): Promise<Map<string, Buffer>> {
  try {
    return await readEntries(bytes)
  } catch (error) {
    if (error instanceof AnchoringError) throw error
    throw malformed(error instanceof Error ? error.message : 'not a ZIP', error)
  }
}

async function readEntries(bytes: Buffer): Promise<Map<string, Buffer>> {
  const { fromBufferPromise } = await import('yauzl')
  const zip = await fromBufferPromise(bytes, { lazyEntries: true, strictFileNames: true })
  const files = new Map<string, Buffer>()
  const seen = new Set<string>()
  let total = 0
  if (zip.entryCount > MAX_ENTRIES) throw malformed('too many files')
  for await (const entry of zip.eachEntry()) {
    const { fileName, compressionMethod, uncompressedSize } = entry
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/.test(fileName)) {
      throw malformed('a file name has other characters than letters, digits, dots, hyphens and slashes')
    }
    if (seen.has(fileName.toLowerCase())) throw malformed('two files have one name')
    seen.add(fileName.toLowerCase())
    total += uncompressedSize
    // Overlapping entries would add up to more than the file's size.
    if (compressionMethod !== 0 || entry.isEncrypted() || total > bytes.length)
      throw malformed('a file is compressed, encrypted or overlaps another one')
    files.set(fileName, await buffer(await zip.openReadStreamPromise(entry)))
  }
  return files
}

function malformed(message: string, cause?: unknown): AnchoringError {
  return new AnchoringError('BAG_MALFORMED', `not a bag: ${message}`, { cause })
}
