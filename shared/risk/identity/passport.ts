export interface Passport {
  id: string
  subjectId: string
  /** JSON of the anchored object */
  body: string
  /** the passport as SD-JWT VC */
  credential: string
  expiresAt: Date
  revokedAt: Date | null
  /** JSON of the anchored object of its revocation */
  revocation: string | null
}

export function passportView(passport: Pick<Passport, 'id' | 'body' | 'credential' | 'revocation'>) {
  const { id, body, credential, revocation } = passport
  return {
    passportId: id,
    record: JSON.parse(body) as object,
    credential,
    revocation: revocation === null ? null : (JSON.parse(revocation) as object),
  }
}
