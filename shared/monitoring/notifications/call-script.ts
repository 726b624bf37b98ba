import { escapeHtml } from '../../html.ts'

const PROMPT = 'Press 1 to acknowledge, or 2 to escalate.'

/** TwiML of a call. With an address for key presses it speaks twice and waits for one digit. */
export function callScript(text: string, keysUrl: string | null): string {
  if (keysUrl === null) return `<Response><Say>${escapeHtml(text)}</Say></Response>`
  const say = `<Say loop="2">${escapeHtml(`${text} ${PROMPT}`)}</Say>`
  const attributes = `numDigits="1" timeout="10" method="POST" action="${escapeHtml(keysUrl)}"`
  return `<Response><Gather ${attributes}>${say}</Gather></Response>`
}

/** Gateways send the pressed key only to a public address. */
export function keysUrlOf(ackUrl: string | null): string | null {
  return ackUrl?.startsWith('https:') ? `${ackUrl}/keys` : null
}
