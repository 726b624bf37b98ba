import { hash } from 'node:crypto'
import type { Files } from './zip.ts'

const DECLARATION = 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n'
const MANIFEST = 'manifest-sha256.txt'
const TAG_MANIFEST = 'tagmanifest-sha256.txt'
const PAYLOAD = 'data/'

/** BagIt 1.0 (RFC 8493). Payload names lack `data/`; `info` has the lines of bag-info.txt, in this order. */
export function createBundle(
  payload: Files,
  info: readonly (readonly [string, string])[],
  tags: Files = new Map(),
): Files {
  const files = new Map<string, Buffer>()
  for (const [name, bytes] of payload) files.set(`${PAYLOAD}${name}`, bytes)
  const octets = [...payload.values()].reduce((sum, { length }) => sum + length, 0)
  const tagFiles = new Map<string, Buffer>([
    ...tags,
    ['bagit.txt', Buffer.from(DECLARATION)],
    ['bag-info.txt', Buffer.from(infoText([...info, ['Payload-Oxum', `${octets}.${payload.size}`]]))],
    [MANIFEST, Buffer.from(manifestOf(files))],
  ])
  for (const [name, bytes] of tagFiles) files.set(name, bytes)
  files.set(TAG_MANIFEST, Buffer.from(manifestOf(tagFiles)))
  return files
}

/** A line end in a value would begin another element. */
function infoText(info: readonly (readonly [string, string])[]): string {
  return info.map(([label, value]) => `${label}: ${value.replaceAll(/\p{C}+/gu, ' ')}\n`).join('')
}

function manifestOf(files: Files): string {
  const names = [...files.keys()].sort((a, b) => (a < b ? -1 : 1))
  return names.map((name) => `${hash('sha256', files.get(name) ?? '', 'hex')}  ${name}\n`).join('')
}

/** Compares with the manifests. Returns the first error, or null. */
export function bundleError(files: Files): string | null {
  if (files.get('bagit.txt')?.toString() !== DECLARATION) return 'bagit.txt is not the declaration of BagIt 1.0'
  const names = [...files.keys()].filter((name) => name !== TAG_MANIFEST)
  const payload = names.filter((name) => name.startsWith(PAYLOAD))
  const tags = names.filter((name) => !name.startsWith(PAYLOAD))
  return manifestError(files, MANIFEST, payload) ?? manifestError(files, TAG_MANIFEST, tags)
}

function manifestError(files: Files, manifest: string, names: readonly string[]): string | null {
  const text = files.get(manifest)?.toString()
  if (text === undefined) return `${manifest} is missing`
  const listed = new Map<string, string>()
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, digest, name] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? []
    if (digest === undefined || name === undefined || listed.has(name)) return `${manifest} has a malformed line`
    listed.set(name, digest)
  }
  const unlisted = names.find((name) => !listed.has(name))
  if (unlisted !== undefined) return `${unlisted} is in no manifest`
  for (const [name, digest] of listed) {
    const bytes = files.get(name)
    if (!bytes || !names.includes(name)) return `${manifest} lists a missing file`
    if (hash('sha256', bytes, 'hex') !== digest) return `the hash of ${name} differs from ${manifest}`
  }
  return null
}
