import { lookup, Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { BlockedTargetError } from './http-error.ts'
import { addressesProblem, type CompiledPolicy, isLocalName, type Resolve } from './target-policy.ts'

/**
 * Refuses the name if any address is forbidden, and pins the examined addresses: a name cannot resolve to a public
 * address when it is examined and to a private one when the connection opens.
 */
export function pinnedLookup(policy: CompiledPolicy, resolve: Resolve, plainHttp: boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const problem = addressesProblem(hostname, addresses, plainHttp, policy)
        if (problem === 'unresolvable') return callback(notFound(), '', 0)
        if (problem) return callback(new BlockedTargetError(problem), '', 0)
        const pinned = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
        const wanted =
          options.family === 4 || options.family === 6 ? pinned.filter((one) => one.family === options.family) : pinned
        const [first] = wanted
        if (!first) return callback(notFound(), '', 0)
        if (options.all) return callback(null, wanted)
        return callback(null, first.address, first.family)
      },
      (error: unknown) => callback(error instanceof Error ? error : notFound(), '', 0),
    )
  }
}

function notFound(): NodeJS.ErrnoException {
  return Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
}

/**
 * Queries the name servers directly: the system resolver blocks one of a few threads per lookup, so dead name servers
 * would delay other targets. Falls back to the system for the hosts file and internal names.
 */
export function openSystemResolver(): Resolve {
  // 1.5 s and then 3 s: less than the timeout of 5 s for the lookup.
  const servers = new Resolver({ timeout: 1_500, tries: 2 })
  return async (hostname) => {
    if (isLocalName(hostname)) return lookUp(hostname)
    const families = await Promise.allSettled([servers.resolve6(hostname), servers.resolve4(hostname)])
    const addresses = families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []))
    if (addresses.length > 0) return addresses
    if (families.some((family) => family.status === 'rejected' && isTimeout(family.reason))) throw timedOut()
    return lookUp(hostname)
  }
}

async function lookUp(hostname: string): Promise<string[]> {
  const found = await lookup(hostname, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && 'code' in reason && reason.code === 'ETIMEOUT'
}

function timedOut(): Error {
  return Object.assign(new Error('the name servers do not answer'), { code: 'EAI_AGAIN' })
}
