/** The link works without signing in. */
export function unsubscribePath(userUuid: string, kind: 'report' | 'reminder', signature: Buffer): string {
  return `/reports/${userUuid}/${kind}/unsubscribe/${signature.toString('base64url')}`
}

export function signedOfUnsubscribe(userUuid: string, kind: 'report' | 'reminder'): string {
  return `unsubscribe-reports:${userUuid}:${kind}`
}
