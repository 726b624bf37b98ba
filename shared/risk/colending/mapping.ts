import type { LoanEvent } from './contract.ts'
import type { Transform } from './transforms.ts'

/** What of the canonical contract a mapping fills, beside the event type. */
export type Target =
  | 'eventId'
  | 'dealId'
  | 'loanRef'
  | 'occurredAt'
  | 'amounts.principal'
  | 'amounts.interest'
  | 'amounts.outstanding'
  | 'dpd'
  | 'share.lender'
  | 'share.colender'

export interface FieldRule {
  target: Target
  /** paths in the record, the first that is present counts; `@name` is a header */
  from: readonly string[]
  transform: Transform
  /** the events for which the source means this by it; every event when absent */
  only?: readonly LoanEvent[]
}

/**
 * How one version of one source format becomes the canonical contract: data, so that it can be published, compared and
 * tried. A change of meaning is a new version beside the old one.
 */
export interface Mapping {
  /** name and version, `generic-envelope@1` */
  id: string
  sourceSystem: string
  sourceFormat: string
  description: string
  /** the record is of this format when all of these are present */
  recognisedBy: readonly string[]
  event: {
    /** paths whose values, joined by dots, name the source's event */
    from: readonly string[]
    /** normalised source event to ours; one that is missing here is not mapped */
    becomes: Readonly<Record<string, LoanEvent>>
  }
  fields: readonly FieldRule[]
}
