/** A path of our own to go on to; never another site. */
export function safeNext(next: string | null): string {
  return next !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/'
}
