/** A short mail with one link; what of it comes from people is an e-mail address at most. */
export interface LinkMail {
  to: string
  subject: string
  /** the sentence before the link */
  lead: string
  /** whole, from the configured public address */
  url: string
  /** the sentence after the link */
  foot: string
}

/** A mail that is written whole before it is stored; the text and the HTML say the same. */
export interface WrittenMail {
  to: string
  subject: string
  text: string
  html: string
  headers: Record<string, string>
}
