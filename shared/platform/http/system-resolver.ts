import { lookup, Resolver } from 'node:dns/promises'
import { isLocalName, type Resolve } from './target-policy.ts'

/**
 * All addresses of a name. Public names are asked of the name servers directly: the system's own function blocks one
 * of a few threads per question, so a handful of names with dead servers would hold back every other target. What the
 * servers do not know may still be in the hosts file, and names of the inner network are only known to the system.
 */
export function openSystemResolver(): Resolve {
  // 1.5 s and then 3 s: below the 5 s that a connection may take.
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
