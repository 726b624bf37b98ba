import { htmlToLines } from '#shared/monitoring/checks/html-text.ts'
import { readMail } from '#shared/monitoring/pings/mail-text.ts'

export interface ShownMail {
  subject: string
  sender: string
  /** plain part, otherwise the text of the HTML; truncated */
  text: string
  isTextCut: boolean
  isTextOfHtml: boolean
  /** estimated height in pixels; null without HTML */
  htmlHeight: number | null
}

/** Maximum characters of text and subject. */
const SHOWN_CHARACTERS = 100_000
const SUBJECT_CHARACTERS = 500

/** Runs in a thread, because its time grows with the mail. */
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
/** between two parts of the mail */
const GAP_PIXELS = 15
const MARGIN_PIXELS = 40
const MIN_PIXELS = 160
const MAX_PIXELS = 2400

/** Estimates the height from the lines, because no script may measure the isolated frame. */
function heightOf(lines: string): number {
  const content = lines
    .split('\n')
    .reduce((sum, { length }) => sum + (Math.ceil(length / LINE_CHARACTERS) * LINE_PIXELS || GAP_PIXELS), 0)
  return Math.min(MAX_PIXELS, Math.max(MIN_PIXELS, MARGIN_PIXELS + content))
}
