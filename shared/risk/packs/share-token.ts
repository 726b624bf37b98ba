/** How long a link to a pack works unless it is revoked before. */
export const SHARE_DAYS = 30

/** What is digested of the token of a link, so that a digest of ours can stand for nothing else. */
export function shareDigestText(token: string): string {
  return `pack-share:${token}`
}
