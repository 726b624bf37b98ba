export interface Passport {
  id: string
  subjectId: string
  /** JSON */
  body: string
  credential: string
  expiresAt: Date
  revokedAt: Date | null
  /** JSON */
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
