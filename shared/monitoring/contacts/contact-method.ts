import type { Micros } from '../../time.ts'
import type { ConfigObject } from '../integrations/shown-config.ts'
import { type ContactKind, type Gateways, isGatewaySet } from './contact-kinds.ts'

export const MAX_METHODS = 10

/** One address of a person. */
export interface ContactMethod {
  id: string
  userId: number
  kind: ContactKind
  name: string
  /** the address of the account, which follows its changes and cannot be deleted */
  isAccount: boolean
  /** null: not readable, or the integration that it uses is gone */
  config: ConfigObject | null
  /** uuid of the integration that provides server, sender and token */
  via: string | null
  recoveries: boolean
  isVerified: boolean
  isDisabled: boolean
  lastError: string
  lastSentAt: Micros | null
}

export type MethodState = 'usable' | 'disabled' | 'unverified' | 'incomplete' | 'gateway'

/** A method that is not usable is never sent to, except the code that verifies it. */
export function methodState(method: ContactMethod, gateways: Gateways): MethodState {
  if (method.config === null) return 'incomplete'
  if (!isGatewaySet(method.kind, gateways)) return 'gateway'
  if (method.isDisabled) return 'disabled'
  return method.isVerified ? 'usable' : 'unverified'
}

export function isUsable(method: ContactMethod, gateways: Gateways): boolean {
  return methodState(method, gateways) === 'usable'
}
