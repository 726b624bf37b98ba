import type { PackRequest } from '../../packs/request.ts'
import { createBreakers } from '../breaker.ts'
import type { RegistryDeps } from '../connector.ts'
import { createRegistrySet, type RegistrySet } from '../registry-set.ts'
import type { BusinessQuery } from './answers.ts'
import { createSandboxGateway, SANDBOX_URL } from './gateway.ts'

export interface SandboxOptions {
  /** Fixes every demo value; the same seed gives the same values on every machine. */
  seed: string
  /** Absent for a look-up outside a pack. */
  request?: PackRequest
  /** What a verification states of a business. */
  requested?: BusinessQuery | undefined
}

/** The default seed of the demo values. */
export const SANDBOX_SEED = 'signalbox-sandbox-2'

/**
 * The registries of one sandbox request. The breakers are its own: a scenario that fails on purpose must not open
 * a breaker for anybody else.
 */
export function createSandboxRegistries(
  { seed, request, requested }: SandboxOptions,
  deps: Omit<RegistryDeps, 'http'>,
): RegistrySet {
  const gateway = { url: SANDBOX_URL }
  const http = createSandboxGateway({ seed, request, requested }, deps)
  return createRegistrySet(
    {
      taxReturns: gateway,
      taxpayers: gateway,
      companies: gateway,
      providentFund: gateway,
      securityInterests: gateway,
      accounts: gateway,
      lei: gateway,
      exporterCodes: gateway,
      exportCertificates: gateway,
      shippingBills: gateway,
      persons: gateway,
    },
    { ...deps, http },
    createBreakers(),
    { securityInterests: 'DEMO', accounts: 'DEMO', lei: 'DEMO' },
  )
}

/** The request as the sandbox asks it: families without a consent handle get the demo consent. */
export function withDemoConsents(request: PackRequest): PackRequest {
  const demo = { gst: 'demo-consent', aa: 'demo-consent', epfo: 'demo-consent' }
  const given = Object.entries(request.consents ?? {}).filter(([, handle]) => handle !== undefined)
  return { ...request, consents: { ...demo, ...Object.fromEntries(given) } }
}
