import { AsyncLocalStorage } from 'node:async_hooks'

/** The tenant whose rows a request may access; an absent id matches no row. */
export interface Tenant {
  organisationId?: number
  projectId?: number
}

const current = new AsyncLocalStorage<{ tenant: Tenant } | 'all'>()

/** Until `enterTenant` queries see no tenant rows. */
export function withTenantUnknown<T>(work: () => T): T {
  return current.run({ tenant: {} }, work)
}

/** Restricts the rest of the current request to this tenant. Has no effect outside `withTenantUnknown`. */
export function enterTenant(tenant: Tenant): void {
  const store = current.getStore()
  if (store !== undefined && store !== 'all') store.tenant = tenant
}

export function asTenant<T>(tenant: Tenant, work: () => T): T {
  return current.run({ tenant }, work)
}

/** For authentication, and to distinguish a foreign row from a missing one. */
export function acrossTenants<T>(work: () => T): T {
  return current.run('all', work)
}

export function currentTenant(): Tenant | undefined {
  const store = current.getStore()
  return store === 'all' ? undefined : store?.tenant
}
