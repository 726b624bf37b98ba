/** An e-mail address is its only text from users. */
export interface LinkMail {
  to: string
  subject: string
  lead: string
  /** from the configured public address */
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
