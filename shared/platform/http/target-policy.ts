import ipaddr from 'ipaddr.js'
import type { FieldCode } from '../../field-codes.ts'

/**
 * Permitted targets of outgoing requests (docs/spec/transparency.md#webhook-endpoints, faults B29-B31). The same rules hold when an address is
 * registered (`checkTarget`) and at every connect (`http-client.ts`).
 */
export interface TargetPolicy {
  /** `ALLOW_PRIVATE_TARGETS`: no network beyond the public one, every network, or the public one and these CIDRs */
  allowPrivate: boolean | readonly string[]
  /** whether plain http may reach the public network; a target inside an allowed network may always use it */
  plainHttp: 'anywhere' | 'allowed-networks'
}

export type TargetProblem =
  | 'not-a-url'
  | 'scheme'
  | 'credentials'
  | 'port'
  | 'plain-http'
  | 'private-address'
  | 'unresolvable'

/** Returns the code of `errors[].code` for a refused URL. */
export function targetCode(problem: TargetProblem): FieldCode {
  return TARGET_CODES[problem]
}

const TARGET_CODES: Record<TargetProblem, FieldCode> = {
  'not-a-url': 'NOT_A_URL',
  scheme: 'SCHEME',
  credentials: 'CREDENTIALS',
  port: 'PORT',
  'plain-http': 'PLAIN_HTTP',
  'private-address': 'PRIVATE_ADDRESS',
  unresolvable: 'UNRESOLVABLE',
}

/** Sentences fit for a caller: they never tell what a name resolved to. */
export const targetProblemTexts: Record<TargetProblem, string> = {
  'not-a-url': 'is not a URL',
  scheme: 'must start with https:// or http://',
  credentials: 'must not contain a user name or password',
  port: 'uses a port that is not allowed',
  'plain-http': 'must start with https://',
  'private-address': 'leads to a private address',
  unresolvable: 'has a host name that cannot be resolved',
}

/** All addresses of a name. Rejects when the name does not resolve. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

export type UrlResult = { ok: true; url: URL; addressLiteral: string | null } | { ok: false; reason: TargetProblem }
export type TargetResult = { ok: true; url: URL } | { ok: false; reason: TargetProblem }

/** The policy with its CIDRs parsed, so that a check costs no parsing. */
export interface CompiledPolicy {
  allowAll: boolean
  networks: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][]
  plainHttp: TargetPolicy['plainHttp']
}

/** @throws Error when a CIDR cannot be read: a typing error must not open or close anything silently */
export function compilePolicy(policy: TargetPolicy): CompiledPolicy {
  const cidrs = typeof policy.allowPrivate === 'boolean' ? [] : policy.allowPrivate
  return {
    allowAll: policy.allowPrivate === true,
    networks: cidrs.map((cidr) => (cidr.includes('/') ? ipaddr.parseCIDR(cidr) : singleAddress(cidr))),
    plainHttp: policy.plainHttp,
  }
}

/**
 * Everything that the text of a URL can tell, without resolving. The WHATWG parser turns `0x7f.1`, `2130706433` and
 * the like into dotted form first, so no odd spelling of an address passes as a name.
 */
export function checkUrl(text: string | URL, policy: CompiledPolicy): UrlResult {
  const url = typeof text === 'string' ? parseUrl(text) : text
  if (!url) return { ok: false, reason: 'not-a-url' }
  const plain = url.protocol === 'http:'
  if (!plain && url.protocol !== 'https:') return { ok: false, reason: 'scheme' }
  if (url.username !== '' || url.password !== '') return { ok: false, reason: 'credentials' }
  const port = url.port === '' ? (plain ? 80 : 443) : Number(url.port)
  // Endpoints of /v1 keep to the usual ports; integrations may use any that is no other service's.
  const isOdd = policy.plainHttp === 'allowed-networks' && port !== 80 && port !== 443 && port < 1024
  if (isOdd || refusedPorts.has(port)) return { ok: false, reason: 'port' }
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
  if (!ipaddr.isValid(host)) {
    // Without an allowed network such a name leads nowhere that may be reached, whether it resolves by now or not.
    const isHopeless = !policy.allowAll && policy.networks.length === 0 && isLocalName(host)
    return isHopeless ? { ok: false, reason: 'private-address' } : { ok: true, url, addressLiteral: null }
  }
  const reason = addressesProblem(host, [host], plain, policy)
  return reason ? { ok: false, reason } : { ok: true, url, addressLiteral: host }
}

/**
 * Why none of these addresses may be connected to; null when all of them may. One bad address condemns the name: a
 * name that has a public and a private address is not to be trusted with either.
 */
export function addressesProblem(
  host: string,
  addresses: readonly string[],
  plainHttp: boolean,
  policy: CompiledPolicy,
): TargetProblem | null {
  if (addresses.length === 0) return 'unresolvable'
  if (policy.allowAll) return null
  const parsed = addresses.map((address) => ipaddr.process(address))
  if (parsed.every((address) => isInside(address, policy.networks))) return null
  if (isLocalName(host)) return 'private-address'
  if (!parsed.every((address) => address.range() === 'unicast' && !isIpv4Compatible(address))) return 'private-address'
  return plainHttp && policy.plainHttp === 'allowed-networks' ? 'plain-http' : null
}

/** The whole check, for the moment an address is registered; the connect checks again, since names change. */
export async function checkTarget(text: string, policy: TargetPolicy, resolve: Resolve): Promise<TargetResult> {
  const compiled = compilePolicy(policy)
  const result = checkUrl(text, compiled)
  if (!result.ok) return result
  const { url } = result
  if (result.addressLiteral !== null) return { ok: true, url }
  const addresses = await resolve(url.hostname).catch((): readonly string[] => [])
  const reason = addressesProblem(url.hostname, addresses, url.protocol === 'http:', compiled)
  return reason ? { ok: false, reason } : { ok: true, url }
}

function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null
}

function isInside(address: ipaddr.IPv4 | ipaddr.IPv6, networks: CompiledPolicy['networks']): boolean {
  return networks.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits))
}

/** `::a.b.c.d`, ::/96 (RFC 4291, 2.5.5.1): deprecated, and an address of IPv4 in disguise. */
function isIpv4Compatible(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.kind() === 'ipv6' && address.match(ipaddr.IPv6.parse('::'), 96)
}

function singleAddress(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const address = ipaddr.process(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

const localName = /(?:^|\.)(?:localhost|local|internal|localdomain|home\.arpa)$/

/** Names that only mean something inside a network, whatever they resolve to here (RFC 6761, RFC 8375, .internal). */
export function isLocalName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return localName.test(name) || (!name.includes('.') && !name.includes(':'))
}

/**
 * Ports at which no HTTP service is meant to listen: the Fetch standard's bad ports, whose services would read a request
 * as commands of their own, and those of databases, caches and brokers, our own among them.
 */
const refusedPorts: ReadonlySet<number> = new Set([
  // https://fetch.spec.whatwg.org/#port-blocking
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109],
  ...[110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530],
  ...[531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190],
  ...[5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
  // PostgreSQL and its poolers, RabbitMQ with its management, our mail listener and our metrics
  ...[5432, 5433, 6432, 4369, 5671, 5672, 15671, 15672, 15692, 25672, 2525, 9464],
  // other databases and caches
  ...[1433, 1521, 3306, 6379, 9042, 11211, 27017],
])
