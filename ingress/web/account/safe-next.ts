/** Returns a path of this application to continue at; never another site. */
export function safeNext(next: string | null): string {
  return next !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/'
}
