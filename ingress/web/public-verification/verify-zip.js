// Reads a ZIP file in this browser, with limits, because the file may come from anyone. Refuses what programs read in
// different ways: repeated names, entries that overlap, sizes that differ from the content.

const MIB = 1024 * 1024
/** Of the ZIP file, and of all its files together. */
export const MAX_ZIP_BYTES = 256 * MIB
const MAX_ENTRIES = 1000
const [END, ENTRY, LOCAL] = [0x06054b50, 0x02014b50, 0x04034b50]
const [END_BYTES, ENTRY_BYTES, LOCAL_BYTES] = [22, 46, 30]
const MAX_COMMENT = 65_535
const [STORED, DEFLATED] = [0, 8]

/** The message names the entry. */
export class ZipError extends Error {}

/** @returns the content of each file by its name; folders are omitted @throws ZipError */
export async function readZip(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries = entriesOf(bytes, view)
  checkSizes(entries)
  const files = new Map()
  let free = 0
  for (const entry of entries.toSorted((a, b) => a.offset - b.offset)) {
    const data = dataOf(bytes, view, entry)
    if (entry.offset < free) throw new ZipError(`${entry.name}: it overlaps another entry of the ZIP file.`)
    free = data.byteOffset - bytes.byteOffset + data.length
    files.set(entry.name, await contentOf(entry, data))
  }
  // In the order of the directory, and without folders.
  return new Map(entries.filter(({ name }) => !name.endsWith('/')).map(({ name }) => [name, files.get(name)]))
}

function entriesOf(bytes, view) {
  const end = endOf(view)
  if (end === null) throw new ZipError('The ZIP file is incomplete or damaged: it has no directory.')
  const count = view.getUint16(end + 10, true)
  const start = view.getUint32(end + 16, true)
  const isSplit = view.getUint32(end + 4, true) !== 0 || view.getUint16(end + 8, true) !== count
  if (isSplit || count === 0xffff || start === 0xffffffff)
    throw new ZipError('This page reads no ZIP files in parts and no ZIP64 files.')
  if (count > MAX_ENTRIES) throw new ZipError(`The ZIP file has ${count} entries; this page reads ${MAX_ENTRIES}.`)
  const entries = []
  let at = start
  for (let index = 0; index < count; index += 1) {
    if (at + ENTRY_BYTES > end || view.getUint32(at, true) !== ENTRY)
      throw new ZipError(`The ZIP file is damaged: entry ${index + 1} of its directory cannot be read.`)
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) => view.getUint16(at + field, true))
    entries.push({
      name: nameIn(bytes, at + ENTRY_BYTES, nameBytes),
      isEncrypted: view.getUint16(at + 8, true) % 2 === 1,
      method: view.getUint16(at + 10, true),
      packed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
    })
    at += ENTRY_BYTES + nameBytes + extraBytes + commentBytes
  }
  return entries
}

/** Returns the offset of the record at the end, behind which only its comment may follow; null if it has none. */
function endOf(view) {
  const last = view.byteLength - END_BYTES
  for (let at = last; at >= Math.max(0, last - MAX_COMMENT); at -= 1) {
    if (view.getUint32(at, true) === END && view.getUint16(at + 20, true) === last - at) return at
  }
  return null
}

/** Characters that would change how a line of the report reads are replaced. */
function nameIn(bytes, at, length) {
  return new TextDecoder().decode(bytes.subarray(at, at + length)).replaceAll(/[\p{C}\p{Z}]/gu, '_')
}

/** @throws ZipError before anything is unpacked */
function checkSizes(entries) {
  const seen = new Set()
  let total = 0
  for (const { name, isEncrypted, method, packed, size } of entries) {
    if (isEncrypted) throw new ZipError(`${name}: it is encrypted.`)
    if (method !== STORED && method !== DEFLATED)
      throw new ZipError(`${name}: its compression method ${method} is not supported.`)
    if (method === STORED && packed !== size) throw new ZipError(`${name}: its sizes contradict each other.`)
    if (seen.has(name.toLowerCase())) throw new ZipError(`${name}: the ZIP file has two entries of this name.`)
    seen.add(name.toLowerCase())
    total += size
    if (total > MAX_ZIP_BYTES) throw new ZipError(`${name}: with it the files exceed ${MAX_ZIP_BYTES / MIB} MiB.`)
  }
}

function dataOf(bytes, view, { name, packed, offset }) {
  const isLocal = offset + LOCAL_BYTES <= bytes.length && view.getUint32(offset, true) === LOCAL
  if (!isLocal) throw new ZipError(`${name}: the ZIP file is damaged at this entry.`)
  const nameBytes = view.getUint16(offset + 26, true)
  const from = offset + LOCAL_BYTES + nameBytes + view.getUint16(offset + 28, true)
  if (nameIn(bytes, offset + LOCAL_BYTES, nameBytes) !== name)
    throw new ZipError(`${name}: the entry has another name in front of its content.`)
  if (from + packed > bytes.length) throw new ZipError(`${name}: the ZIP file ends within this entry.`)
  return bytes.subarray(from, from + packed)
}

async function contentOf({ name, method, size }, data) {
  if (method === STORED) return data
  const content = new Uint8Array(size)
  let length = 0
  try {
    for await (const piece of pieces(data)) {
      if (length + piece.length > size)
        throw new ZipError(`${name}: it unpacks to more than the ${size} bytes it declares.`)
      content.set(piece, length)
      length += piece.length
    }
  } catch (error) {
    if (error instanceof ZipError) throw error
    throw new ZipError(`${name}: its compressed content is damaged.`)
  }
  if (length < size) throw new ZipError(`${name}: it unpacks to less than the ${size} bytes it declares.`)
  return content
}

/** Ends the decompression when the caller stops reading. */
async function* pieces(data) {
  const reader = new Blob([data]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    await reader.cancel().catch(() => {})
  }
}
