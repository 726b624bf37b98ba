import type { IngressDeps } from '../deps.ts'

/** State that lives as long as the process's dependencies: made at its first use, once per `deps`. */
export function perProcess<T>(create: (deps: IngressDeps) => T): (deps: IngressDeps) => T {
  const made = new WeakMap<IngressDeps, { value: T }>()
  return (deps) => {
    const known = made.get(deps)
    if (known) return known.value
    const value = create(deps)
    made.set(deps, { value })
    return value
  }
}
