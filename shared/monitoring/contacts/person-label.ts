import { findKind } from '../integrations/kinds.ts'
import { isContactKind } from './contact-kinds.ts'

/**
 * Returns `Anna (SMS)` for a person who acted by a contact method, otherwise `by`.
 * @param name of the account; may be empty
 */
export function personLabel(by: string, via: string | null, name: string | null): string {
  if (via === null || !isContactKind(via)) return by
  return `${name || by} (${findKind(via)?.label ?? via})`
}
