// Hashes and proofs of the transparency log, computed in this browser.

export const encoder = new TextEncoder()
export const TX_ID = /^[0-9a-f]{64}$/

/** Implements RFC 8785 for results of JSON.parse, so other types than those of JSON cannot occur. */
export function canonicalize(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalize).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalize(value[name])}`)
  return `{${members.join(',')}}`
}

export async function sha256(...parts) {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

/**
 * Returns true if an object has a member twice. Parsers differ in which of the two they use, so the text proves nothing.
 * @param text valid JSON
 */
export function hasTwins(text) {
  const open = []
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g)) {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    else if (token.endsWith(':')) {
      const name = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1))
      if (open.at(-1).has(name)) return true
      open.at(-1).add(name)
    }
  }
  return false
}

export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
export const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
export const fromBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
export const leafHash = (entry) => sha256(Uint8Array.of(0), entry)
const nodeHash = (left, right) => sha256(Uint8Array.of(1), left, right)

/** Computes the root from a leaf and its audit path (RFC 9162 2.1.3.2). Returns null if the path has the wrong length. */
export async function rootOf(leaf, index, size, path) {
  if (!(index >= 0 && index < size)) return null
  let hash = leaf
  let node = BigInt(index)
  let last = BigInt(size) - 1n
  for (const sibling of path) {
    if (last === 0n) return null
    if (node % 2n === 1n || node === last) {
      hash = await nodeHash(sibling, hash)
      while (node % 2n === 0n && node !== 0n) {
        node /= 2n
        last /= 2n
      }
    } else hash = await nodeHash(hash, sibling)
    node /= 2n
    last /= 2n
  }
  return last === 0n ? hash : null
}

/** Computes the root of a tree from its leaves (RFC 9162 2.1.1). */
export async function treeRoot(leaves) {
  if (leaves.length === 0) return await sha256()
  let level = leaves
  // A last node without a sibling moves up unchanged.
  while (level.length > 1) {
    const pairs = level.filter((_, index) => index % 2 === 0)
    const below = level
    level = await Promise.all(
      pairs.map((left, index) => (below[2 * index + 1] ? nodeHash(left, below[2 * index + 1]) : left)),
    )
  }
  return level[0]
}

/** Computes the hash and the transaction of an object without its anchor. The transaction is null without an event. */
export async function anchorOf({ anchor: _, ...rest }) {
  const digest = toHex(await sha256(encoder.encode(canonicalize(rest))))
  const event = eventOf(rest)
  if (!event) return { digest, txId: null }
  const entry = encoder.encode(canonicalize({ v: 1, ...event, payloadSha256: digest }))
  return { digest, txId: toHex(await leafHash(entry)) }
}

/** Returns event type and time of an object's log entry, from its members; null if it has none. */
export function eventOf({ eventType, timestamp, event, occurredAt, packId, generatedAt }) {
  if (eventType && timestamp) return { eventType, timestamp }
  if (event && occurredAt) return { eventType: event, timestamp: occurredAt }
  return packId && generatedAt ? { eventType: 'risk_signals.pack_ready', timestamp: generatedAt } : null
}
