/** The path of the link that ends one kind of mail to a person; who holds it need not sign in. */
export function unsubscribePath(userUuid: string, kind: 'report' | 'reminder', signature: Buffer): string {
  return `/reports/${userUuid}/${kind}/unsubscribe/${signature.toString('base64url')}`
}

/** What the link's signature is of. */
export function signedOfUnsubscribe(userUuid: string, kind: 'report' | 'reminder'): string {
  return `unsubscribe-reports:${userUuid}:${kind}`
}
