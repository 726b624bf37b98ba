import { htmlToLines } from '#shared/monitoring/checks/html-text.ts'
import { readMail } from '#shared/monitoring/pings/mail-text.ts'

/** A mail as its page shows it. */
export interface ShownMail {
  subject: string
  sender: string
  /** its plain part, else the text of its HTML; cut to what a page shows */
  text: string
  isTextCut: boolean
  /** true if the mail has no plain text part */
  isTextOfHtml: boolean
  /** pixels that its HTML probably takes; null when it has none */
  htmlHeight: number | null
}

/** Characters of a mail's text, and of its subject, that a page shows. */
const SHOWN_CHARACTERS = 100_000
const SUBJECT_CHARACTERS = 500

/** Reads the beginning of a mail for its page. Runs in a thread: its time grows with what was sent. */
export async function showMail(bytes: Uint8Array): Promise<ShownMail> {
  const { subject, sender, plain, html } = await readMail(bytes)
  const lines = html === null ? null : htmlToLines(html)
  const text = plain ?? lines ?? ''
  return {
    subject: subject.slice(0, SUBJECT_CHARACTERS),
    sender,
    text: text.slice(0, SHOWN_CHARACTERS),
    isTextCut: text.length > SHOWN_CHARACTERS,
    isTextOfHtml: plain === null && lines !== null,
    htmlHeight: lines === null ? null : heightOf(lines),
  }
}

const LINE_CHARACTERS = 85
const LINE_PIXELS = 20
/** between two parts */
const GAP_PIXELS = 15
const MARGIN_PIXELS = 40
const MIN_PIXELS = 160
const MAX_PIXELS = 2400

/** Nothing that runs may look into the frame of a mail, so nothing can measure it: its lines are counted. */
function heightOf(lines: string): number {
  const content = lines
    .split('\n')
    .reduce((sum, { length }) => sum + (Math.ceil(length / LINE_CHARACTERS) * LINE_PIXELS || GAP_PIXELS), 0)
  return Math.min(MAX_PIXELS, Math.max(MIN_PIXELS, MARGIN_PIXELS + content))
}
