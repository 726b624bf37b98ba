import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

export type TrustedProxies = readonly [Address, number][]

export function parseTrustedProxies(entries: readonly string[]): TrustedProxies {
  return entries.map((entry) => {
    const text = entry.trim()
    const whole = parseIp(text)
    if (whole) return [whole, whole.kind() === 'ipv4' ? 32 : 128]
    if (!ipaddr.isValidCIDR(text)) throw new Error(`not an address or CIDR range: ${JSON.stringify(entry)}`)
    return ipaddr.parseCIDR(text)
  })
}

export interface RequestOrigin {
  peer: string | undefined
  /** header values as received, repeated ones joined by commas */
  forwardedFor: string | undefined
  forwarded: string | undefined
  forwardedProto: string | undefined
}

export interface Client {
  remoteAddr: string | null
  scheme: string
}

/**
 * Returns the last address of `X-Forwarded-For`, or else `Forwarded`, that is not a trusted proxy. Ignores the headers of
 * other peers.
 */
export function resolveClient(origin: RequestOrigin, trusted: TrustedProxies): Client {
  const peer = parseIp(origin.peer ?? '')
  // A dual-stack socket reports IPv4 peers as mapped addresses.
  const remote = peer === null ? null : unmapped(peer)
  if (remote === null || !isTrusted(remote, trusted)) {
    return { remoteAddr: remote === null ? null : shortForm(remote), scheme: 'http' }
  }
  const scheme = origin.forwardedProto ? origin.forwardedProto.slice(0, 10) : 'http'
  const hops = origin.forwardedFor?.split(',') ?? forwardedHops(origin.forwarded)
  if (hops === null) return { remoteAddr: shortForm(remote), scheme }
  return { remoteAddr: firstUntrusted(hops, trusted), scheme }
}

function firstUntrusted(hops: readonly string[], trusted: TrustedProxies): string | null {
  for (const [index, hop] of [...hops.entries()].toReversed()) {
    const address = parseHop(hop)
    if (address === null) return null
    if (index === 0 || !isTrusted(unmapped(address), trusted)) return shortForm(address)
  }
  return null
}

/** Returns the `for=` of each element (RFC 7239), empty if missing; null if the header is absent. */
function forwardedHops(header: string | undefined): string[] | null {
  if (header === undefined) return null
  return header.split(',').map((element) => {
    const pair = element
      .split(';')
      .map((text) => text.trim())
      .find((text) => text.toLowerCase().startsWith('for='))
    return pair?.slice('for='.length).replaceAll('"', '') ?? ''
  })
}

/** Keeps `::ffff:` (docs/spec/monitoring.md#ping-record). Null for other text. */
export function normalizeAddress(text: string): string | null {
  const address = parseHop(text)
  return address === null ? null : shortForm(address)
}

/** IPv6 counts by /64, because a client usually controls all of it. Other text shares the bucket `unknown`. */
export function addressBucket(text: string | null | undefined): string {
  const address = parseHop(text ?? '')
  if (address === null) return 'unknown'
  const real = unmapped(address)
  if (!isIpv6(real)) return real.toString()
  const network = new ipaddr.IPv6([...real.parts.slice(0, 4), 0, 0, 0, 0])
  return `${network.toRFC5952String()}/64`
}

function parseHop(text: string): Address | null {
  const trimmed = text.trim()
  if (trimmed.startsWith('[')) return parseIp(trimmed.slice(1, trimmed.indexOf(']')))
  const whole = parseIp(trimmed)
  if (whole) return whole
  const colon = trimmed.indexOf(':')
  return colon === -1 ? null : parseFourParts(trimmed.slice(0, colon))
}

/** Caches parsed addresses, because one address may have thousands of connections. */
const parsed = new Map<string, Address | null>()
const MAX_PARSED = 4_096
const MAX_PARSED_LENGTH = 64

function parseIp(text: string): Address | null {
  const known = parsed.get(text)
  if (known !== undefined) return known
  const address = readIp(text)
  if (text.length <= MAX_PARSED_LENGTH) {
    if (parsed.size >= MAX_PARSED) parsed.clear()
    parsed.set(text, address)
  }
  return address
}

function readIp(text: string): Address | null {
  if (!text.includes(':')) return parseFourParts(text)
  const zone = text.indexOf('%')
  const address = zone === -1 ? text : text.slice(0, zone)
  return ipaddr.IPv6.isValid(address) ? ipaddr.IPv6.parse(address) : null
}

/** Refuses octal, hexadecimal and shortened forms, which the library accepts but proxies do not write. */
function parseFourParts(text: string): ipaddr.IPv4 | null {
  return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : null
}

export function isTrustedProxy(text: string | undefined, trusted: TrustedProxies): boolean {
  const address = parseIp(text ?? '')
  return address !== null && isTrusted(unmapped(address), trusted)
}

function unmapped(address: Address): Address {
  return isIpv6(address) && address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

function isTrusted(address: Address, trusted: TrustedProxies): boolean {
  return trusted.some(([network, bits]) => {
    if (isIpv6(address)) return isIpv6(network) && address.match(network, bits)
    return !isIpv6(network) && address.match(network, bits)
  })
}

function shortForm(address: Address): string {
  if (!isIpv6(address)) return address.toString()
  return address.isIPv4MappedAddress() ? `::ffff:${address.toIPv4Address().toString()}` : address.toRFC5952String()
}

function isIpv6(address: Address): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6'
}
