import { AsyncLocalStorage } from 'node:async_hooks'

/** Whose rows a request may touch; what is absent matches no row. */
export interface Tenant {
  organisationId?: number
  projectId?: number
}

const current = new AsyncLocalStorage<{ tenant: Tenant } | 'all'>()

/** Runs a request for which nobody is known yet: until `enterTenant` its queries find no tenant's rows. */
export function withTenantUnknown<T>(work: () => T): T {
  return current.run({ tenant: {} }, work)
}

/** From here on the request that is under way touches this tenant's rows alone. Without such a request: nothing. */
export function enterTenant(tenant: Tenant): void {
  const store = current.getStore()
  if (store !== undefined && store !== 'all') store.tenant = tenant
}

/** Reads for the public what is this tenant's: no request that is known, and yet one tenant's rows alone. */
export function asTenant<T>(tenant: Tenant, work: () => T): T {
  return current.run({ tenant }, work)
}

/** For the look-up that finds out who asks, and for answers that differ between a foreign thing and none. */
export function acrossTenants<T>(work: () => T): T {
  return current.run('all', work)
}

/** Whose rows a query of this moment may touch; undefined for work that belongs to no tenant's request. */
export function currentTenant(): Tenant | undefined {
  const store = current.getStore()
  return store === 'all' ? undefined : store?.tenant
}
