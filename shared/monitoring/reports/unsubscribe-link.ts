/** Returns the path that ends one kind of mail without signing in. */
export function unsubscribePath(userUuid: string, kind: 'report' | 'reminder', signature: Buffer): string {
  return `/reports/${userUuid}/${kind}/unsubscribe/${signature.toString('base64url')}`
}

/** Returns the text that the signature of the link covers. */
export function signedOfUnsubscribe(userUuid: string, kind: 'report' | 'reminder'): string {
  return `unsubscribe-reports:${userUuid}:${kind}`
}
