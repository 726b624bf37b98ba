import type { LookupFunction } from 'node:net'
import { BlockedTargetError } from './http-error.ts'
import { addressesProblem, type CompiledPolicy, type Resolve } from './target-policy.ts'

/**
 * A lookup for `net.connect` and `tls.connect` that resolves once, refuses the name when any address is forbidden,
 * and hands over the very addresses it checked: a name cannot be public for the check and private for the connect.
 * The TLS name stays the host's.
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
