/** One bucket of attempts: how many it holds; it regains all of them within a minute. */
export interface ThrottleRule {
  bucket: string
  capacity: number
}

/** How much of its capacity a bucket regains each second. */
export const THROTTLE_SHARE_PER_SECOND = 1 / 60

/**
 * Buckets of one attempt. `blocking` ones give a token before the secret is looked at, so that parallel guesses cannot
 * outrun the count; a right secret gives it back. Both contain the caller's address, so nobody can empty them for
 * somebody at another address. The client's own bucket only turns the answer to a wrong secret into a 429; a right
 * secret passes it always, else a stranger could lock the client out.
 * @param address the caller's, as `addressBucket` makes it
 */
export function throttleRules(clientId: string, address: string): { blocking: ThrottleRule[]; client: ThrottleRule } {
  return {
    blocking: [
      { bucket: `token:pair:${clientId}:${address}`, capacity: 10 },
      { bucket: `token:address:${address}`, capacity: 50 },
    ],
    client: { bucket: `token:client:${clientId}`, capacity: 30 },
  }
}
