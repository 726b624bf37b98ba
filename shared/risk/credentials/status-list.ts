import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import { objectOf, readJwt, type UnverifiedJwt } from './jwt.ts'

const inflateBounded = promisify(inflate)
const deflateBytes = promisify(deflate)

/** A small compressed text may inflate to gigabytes. */
const MAX_LIST_BYTES = 16 * 1024 * 1024
const MAX_AGE_SECONDS = 12 * 3600
const LEEWAY_SECONDS = 60

export interface StatusList {
  bits: 1 | 2 | 4 | 8
  bytes: Buffer
}

export interface StatusReference {
  uri: string
  idx: number
}

/** UNAVAILABLE if the status could not be determined. */
export type CredentialStatus = 'VALID' | 'REVOKED' | 'SUSPENDED' | 'UNAVAILABLE'

/** Returns null without a reference; 'unreadable' for a malformed one. */
export function statusReferenceOf(claims: Readonly<Record<string, unknown>>): StatusReference | null | 'unreadable' {
  if (!Object.hasOwn(claims, 'status')) return null
  // The claims were parsed from JSON.
  const list = objectOf(objectOf(claims.status as never)?.status_list)
  const { uri, idx } = list ?? {}
  const isIndex = typeof idx === 'number' && Number.isSafeInteger(idx) && idx >= 0
  return typeof uri === 'string' && isIndex ? { uri, idx } : 'unreadable'
}

export function isStatusAddress(uri: string, hosts: readonly string[]): boolean {
  const url = URL.parse(uri)
  return url !== null && url.protocol === 'https:' && url.username === '' && hosts.includes(url.host)
}

/** `until` is in seconds since the epoch. */
export interface StatusToken {
  jwt: UnverifiedJwt
  bits: StatusList['bits']
  /** base64url of the compressed list */
  lst: string
  until: number
}

/** Does not verify the signature. Returns null unless it is a valid list of this address. */
export function readStatusToken(text: string, uri: string, nowSeconds: number): StatusToken | null {
  const jwt = readJwt(text.trim())
  if (jwt?.header.typ !== 'statuslist+jwt' || jwt.payload.sub !== uri) return null
  const { iat, exp, ttl, status_list: list } = jwt.payload
  const { bits, lst } = objectOf(list) ?? {}
  if (typeof iat !== 'number' || iat > nowSeconds + LEEWAY_SECONDS || typeof lst !== 'string') return null
  if (bits !== 1 && bits !== 2 && bits !== 4 && bits !== 8) return null
  if (exp !== undefined && (typeof exp !== 'number' || exp <= nowSeconds)) return null
  const ends = [nowSeconds + MAX_AGE_SECONDS]
  if (typeof exp === 'number') ends.push(exp)
  if (typeof ttl === 'number' && ttl > 0) ends.push(iat + ttl)
  return { jwt, bits, lst, until: Math.min(...ends) }
}

/** Returns null when malformed or too large. */
export async function inflateList({ bits, lst }: Pick<StatusToken, 'bits' | 'lst'>): Promise<StatusList | null> {
  try {
    const bytes = await inflateBounded(Buffer.from(lst, 'base64url'), { maxOutputLength: MAX_LIST_BYTES })
    return { bits, bytes }
  } catch {
    return null
  }
}

/** Least significant bits first; values other than 0, 1 and 2 are UNAVAILABLE. */
export function statusAt({ bits, bytes }: StatusList, idx: number): CredentialStatus {
  const perByte = 8 / bits
  const byte = bytes[Math.floor(idx / perByte)]
  if (byte === undefined) return 'UNAVAILABLE'
  const value = (byte >> ((idx % perByte) * bits)) & (2 ** bits - 1)
  return (['VALID', 'REVOKED', 'SUSPENDED'] as const)[value] ?? 'UNAVAILABLE'
}

/** Omitted statuses are 0. */
export async function deflateList(
  size: number,
  bits: StatusList['bits'],
  statuses: ReadonlyMap<number, number>,
): Promise<string> {
  const bytes = Buffer.alloc((size * bits) / 8)
  const perByte = 8 / bits
  for (const [idx, status] of statuses) {
    const at = Math.floor(idx / perByte)
    bytes[at] = (bytes[at] ?? 0) | (status << ((idx % perByte) * bits))
  }
  return (await deflateBytes(bytes, { level: 9 })).toString('base64url')
}
