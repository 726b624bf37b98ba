/** A passport as it was issued, and whether it was revoked. */
export interface Passport {
  id: string
  subjectId: string
  /** JSON of the anchored object */
  body: string
  /** the same as SD-JWT VC */
  credential: string
  expiresAt: Date
  revokedAt: Date | null
  /** JSON of the anchored object of its revocation */
  revocation: string | null
}

/** A passport as it is shown, with its anchored objects. */
export function passportView(passport: Pick<Passport, 'id' | 'body' | 'credential' | 'revocation'>) {
  const { id, body, credential, revocation } = passport
  return {
    passportId: id,
    // Anchored by us.
    record: JSON.parse(body) as object,
    credential,
    revocation: revocation === null ? null : (JSON.parse(revocation) as object),
  }
}
