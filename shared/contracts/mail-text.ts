/** The parts of a mail in which keywords are searched (docs/spec/monitoring.md#keyword-text). */
export interface MailText {
  /** decoded and unfolded; empty if missing */
  subject: string
  /** the first plain part, then the text of the first HTML part, if present */
  pieces: string[]
}
