import { hash } from 'node:crypto'
import type { Files } from './zip.ts'

const DECLARATION = 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n'
const MANIFEST = 'manifest-sha256.txt'
const TAG_MANIFEST = 'tagmanifest-sha256.txt'
const PAYLOAD = 'data/'

/**
 * The files of a BagIt 1.0 bag (RFC 8493): what is given, with declaration and manifests.
 * @param payload files below `data/`, named without it
 * @param info lines of bag-info.txt, in this order
 * @param tags further tag files
 */
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

/** A value is one line: a line end in it would begin another element. */
function infoText(info: readonly (readonly [string, string])[]): string {
  return info.map(([label, value]) => `${label}: ${value.replaceAll(/\p{C}+/gu, ' ')}\n`).join('')
}

function manifestOf(files: Files): string {
  const names = [...files.keys()].sort((a, b) => (a < b ? -1 : 1))
  return names.map((name) => `${hash('sha256', files.get(name) ?? '', 'hex')}  ${name}\n`).join('')
}

/**
 * What is wrong with the files of a bag, which may come from an attacker: every file must stand in its manifest with
 * its hash, and every line of a manifest must have its file.
 * @returns null when nothing is
 */
export function bundleError(files: Files): string | null {
  if (files.get('bagit.txt')?.toString() !== DECLARATION) return 'bagit.txt is not that of BagIt 1.0'
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
    if (digest === undefined || name === undefined || listed.has(name)) return `${manifest} has a line that is none`
    listed.set(name, digest)
  }
  const unlisted = names.find((name) => !listed.has(name))
  if (unlisted !== undefined) return `${unlisted} stands in no manifest`
  for (const [name, digest] of listed) {
    const bytes = files.get(name)
    if (!bytes || !names.includes(name)) return `${manifest} names a file that is not there`
    if (hash('sha256', bytes, 'hex') !== digest) return `${name} is not the file that ${manifest} names`
  }
  return null
}
