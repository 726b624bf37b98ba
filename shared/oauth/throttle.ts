/** What failed attempts are counted under, and how many are put up with in a window. */
export interface ThrottleRule {
  bucket: string
  limit: number
  windowSeconds: number
}

/**
 * Buckets of one attempt. `blocking` ones refuse before the secret is looked at: both contain the caller's address, so
 * nobody can fill them for somebody at another address. The client's own bucket only turns the answer to a wrong
 * secret into a 429; a right secret passes it always, else a stranger could lock the client out.
 */
export function throttleRules(clientId: string, address: string): { blocking: ThrottleRule[]; client: ThrottleRule } {
  return {
    blocking: [
      { bucket: `token/pair/${clientId}/${address}`, limit: 10, windowSeconds: 60 },
      { bucket: `token/address/${address}`, limit: 50, windowSeconds: 60 },
    ],
    client: { bucket: `token/client/${clientId}`, limit: 30, windowSeconds: 60 },
  }
}

/** Failures still counted after some seconds: they leak away evenly over the window. */
export function leaked(failures: number, elapsedSeconds: number, rule: ThrottleRule): number {
  return Math.max(0, failures - (elapsedSeconds * rule.limit) / rule.windowSeconds)
}

/** Seconds until one more attempt is put up with; 0 when it is now. */
export function retryAfterSeconds(failures: number, rule: ThrottleRule): number {
  const surplus = failures - (rule.limit - 1)
  return surplus <= 0 ? 0 : Math.ceil((surplus * rule.windowSeconds) / rule.limit)
}
