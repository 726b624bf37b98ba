import ipaddr from 'ipaddr.js'
import type { FieldCode } from '../../field-codes.ts'

/** Applies at registration and at every connect (docs/spec/transparency.md#webhook-endpoints, faults B29-B31). */
export interface TargetPolicy {
  /** `ALLOW_PRIVATE_TARGETS`: false for public networks only, true for all networks, or additional CIDRs */
  allowPrivate: boolean | readonly string[]
  /** if plain http may reach public networks; it may always reach an allowed network */
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

/** Texts for callers; they never contain the resolved address. */
export const targetProblemTexts: Record<TargetProblem, string> = {
  'not-a-url': 'is not a URL',
  scheme: 'must start with https:// or http://',
  credentials: 'must not contain a user name or password',
  port: 'uses a port that is not allowed',
  'plain-http': 'must start with https://',
  'private-address': 'leads to a private address',
  unresolvable: 'has a host name that cannot be resolved',
}

export type Resolve = (hostname: string) => Promise<readonly string[]>

export type UrlResult = { ok: true; url: URL; addressLiteral: string | null } | { ok: false; reason: TargetProblem }
export type TargetResult = { ok: true; url: URL } | { ok: false; reason: TargetProblem }

export interface CompiledPolicy {
  allowAll: boolean
  networks: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][]
  plainHttp: TargetPolicy['plainHttp']
}

/** @throws Error for an invalid CIDR, so that a typing error does not silently change the policy */
export function compilePolicy(policy: TargetPolicy): CompiledPolicy {
  const cidrs = typeof policy.allowPrivate === 'boolean' ? [] : policy.allowPrivate
  return {
    allowAll: policy.allowPrivate === true,
    networks: cidrs.map((cidr) => (cidr.includes('/') ? ipaddr.parseCIDR(cidr) : singleAddress(cidr))),
    plainHttp: policy.plainHttp,
  }
}

/**
 * Does not resolve the name. The WHATWG parser normalizes `0x7f.1` and similar forms, so an unusual spelling of an
 * address cannot pass as a name.
 */
export function checkUrl(text: string | URL, policy: CompiledPolicy): UrlResult {
  const url = typeof text === 'string' ? parseUrl(text) : text
  if (!url) return { ok: false, reason: 'not-a-url' }
  const plain = url.protocol === 'http:'
  if (!plain && url.protocol !== 'https:') return { ok: false, reason: 'scheme' }
  if (url.username !== '' || url.password !== '') return { ok: false, reason: 'credentials' }
  const port = url.port === '' ? (plain ? 80 : 443) : Number(url.port)
  // Endpoints of /v1 may use the usual ports only; integrations may use any port that no other service uses.
  const isOdd = policy.plainHttp === 'allowed-networks' && port !== 80 && port !== 443 && port < 1024
  if (isOdd || refusedPorts.has(port)) return { ok: false, reason: 'port' }
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
  if (!ipaddr.isValid(host)) {
    // Without an allowed network a local name cannot reach a permitted address, even if it resolves later.
    const isHopeless = !policy.allowAll && policy.networks.length === 0 && isLocalName(host)
    return isHopeless ? { ok: false, reason: 'private-address' } : { ok: true, url, addressLiteral: null }
  }
  const reason = addressesProblem(host, [host], plain, policy)
  return reason ? { ok: false, reason } : { ok: true, url, addressLiteral: host }
}

/** One forbidden address is enough: a name with public and private addresses is not trustworthy. */
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

/** The connect repeats the check, because names can resolve differently later. */
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

/** `::a.b.c.d`, ::/96 (RFC 4291, 2.5.5.1): a deprecated form of an IPv4 address. */
function isIpv4Compatible(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.kind() === 'ipv6' && address.match(ipaddr.IPv6.parse('::'), 96)
}

function singleAddress(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const address = ipaddr.process(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

const localName = /(?:^|\.)(?:localhost|local|internal|localdomain|home\.arpa)$/

/** Returns true for names that exist only inside a network (RFC 6761, RFC 8375, .internal). */
export function isLocalName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return localName.test(name) || (!name.includes('.') && !name.includes(':'))
}

/** Services on these ports could interpret a request as commands; includes databases, caches and brokers. */
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
