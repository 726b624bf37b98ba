/** A short mail with one link. It contains no free text of users, because strangers could receive it. */
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
