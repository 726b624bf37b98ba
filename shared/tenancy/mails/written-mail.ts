/** A mail that is written whole before it is stored; the text and the HTML say the same. */
export interface WrittenMail {
  to: string
  subject: string
  text: string
  html: string
  headers: Record<string, string>
}
