import { findKind } from '#shared/monitoring/integrations/kinds.ts'

/** What people call a kind of integration; the identifier of one that this version does not know. */
export function labelOfKind(kind: string): string {
  return findKind(kind)?.label ?? kind
}
