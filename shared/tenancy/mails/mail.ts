/** A short mail with one link. It contains no free text of users except harmless names: strangers could receive it. */
export interface LinkMail {
  to: string
  subject: string
  lead: string
  /** label of the link */
  action: string
  /** complete, from the configured public address */
  url: string
  foot: string
}

/** Rendered before it is stored; text and HTML have the same content. */
export interface WrittenMail {
  to: string
  subject: string
  text: string
  html: string
  headers: Record<string, string>
}

/** Returns the name only if it cannot contain a link or a sentence, for mails to strangers; otherwise null. */
export function harmlessName(name: string): string | null {
  return /^[\p{L}\p{N} '&-]{1,60}$/u.test(name) ? name : null
}
