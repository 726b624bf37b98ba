import type { PackRequest } from '../../packs/request.ts'
import { createBreakers } from '../breaker.ts'
import type { RegistryDeps } from '../connector.ts'
import { createRegistrySet, type RegistrySet } from '../registry-set.ts'
import type { BusinessQuery } from './answers.ts'
import { createSandboxGateway, SANDBOX_URL } from './gateway.ts'

export interface SandboxOptions {
  /** equal seeds give equal values on every machine */
  seed: string
  request?: PackRequest
  business?: BusinessQuery | undefined
}

export const SANDBOX_SEED = 'signalbox-sandbox-2'

/** A failing scenario may open its breakers, so each request has separate ones. */
export function createSandboxRegistries(
  { seed, request, business }: SandboxOptions,
  deps: Omit<RegistryDeps, 'http'>,
): RegistrySet {
  const gateway = { url: SANDBOX_URL }
  const http = createSandboxGateway({ seed, request, business }, deps)
  return createRegistrySet(
    {
      taxReturns: gateway,
      taxpayers: gateway,
      companies: gateway,
      providentFund: gateway,
      securityInterests: gateway,
      accounts: gateway,
      lei: gateway,
      registryCompanies: gateway,
      exporterCodes: gateway,
      exportCertificates: gateway,
      shippingBills: gateway,
      persons: gateway,
    },
    { ...deps, http },
    createBreakers(),
    { securityInterests: 'DEMO', accounts: 'DEMO', lei: 'DEMO', registryCompanies: 'DEMO' },
  )
}

/** For families without a consent handle. */
export function withDemoConsents(request: PackRequest): PackRequest {
  const demo = { gst: 'demo-consent', aa: 'demo-consent', epfo: 'demo-consent' }
  const handles = Object.entries(request.consents ?? {}).filter(([, handle]) => handle !== undefined)
  return { ...request, consents: { ...demo, ...Object.fromEntries(handles) } }
}
