export interface Consent {
  id: string
  seq: number
  subjectId: string
  purpose: string
  fields: string[]
  expiresAt: Date
  withdrawnAt: Date | null
  /** JSON of the anchored object; `withdrawal` likewise */
  record: string
  withdrawal: string | null
}

export function consentView({ id, subjectId, withdrawnAt, expiresAt, record, withdrawal }: Consent, nowMs: number) {
  const isOver = expiresAt.getTime() <= nowMs
  return {
    consentId: id,
    subjectId,
    state: withdrawnAt !== null ? ('WITHDRAWN' as const) : isOver ? ('EXPIRED' as const) : ('LIVE' as const),
    record: JSON.parse(record) as object,
    withdrawal: withdrawal === null ? null : (JSON.parse(withdrawal) as object),
  }
}
