import { inrText, parsePaise } from '../money.ts'

export const MISSING = 'missing'

const LAKH_PAISE = 10_000_000

/** `₹7,25,71,120.30 (7.26 crore)` */
export function inrFigure(amount: number | null): string {
  if (amount === null) return MISSING
  const paise = parsePaise(amount)
  if (paise === undefined) return `₹${amount}`
  const size = Math.abs(paise)
  const rupees = String(Math.floor(size / 100)).replace(/(?<=[0-9])(?=(?:[0-9]{2})*[0-9]{3}$)/g, ',')
  const full = `${paise < 0 ? '-' : ''}₹${rupees}.${String(size % 100).padStart(2, '0')}`
  return size < LAKH_PAISE ? full : `${full} (${inrText(size).slice(1)})`
}

export function countFigure(count: number | null): string {
  return count === null ? MISSING : String(count).replace(/(?<=[0-9])(?=(?:[0-9]{2})*[0-9]{3}$)/g, ',')
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export function instantText(iso: string): string {
  const day = dayText(iso.slice(0, 10))
  const time = /T([0-9]{2}:[0-9]{2}:[0-9]{2})/.exec(iso)?.[1]
  return time && iso.endsWith('Z') ? `${day}, ${time} UTC` : day === iso.slice(0, 10) ? iso : day
}

export function dayText(iso: string): string {
  const [, year = '', month = '', day = ''] = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(iso) ?? []
  const name = MONTHS[Number(month) - 1]
  return name ? `${Number(day)} ${name} ${year}` : iso
}

export function yesNo(value: boolean | null): string {
  return value === null ? MISSING : value ? 'yes' : 'no'
}

const LEGS = { A_TO_B: 'buyer to borrower', B_TO_C: 'borrower to subcontractor' } as const

export function legName(leg: keyof typeof LEGS | null): string {
  return leg === null ? MISSING : LEGS[leg]
}

export function withoutCodes(text: string): string {
  return text
    .replace(/\b(A_TO_B|B_TO_C)\b/g, (code) => (code === 'A_TO_B' ? LEGS.A_TO_B : LEGS.B_TO_C))
    .replace(/\b[A-Z]+(?:_[A-Z]+)+\b/g, words)
}

/** `POSSIBLE_MATCH` is `possible match`. */
export function words(code: string | null): string {
  return code === null ? MISSING : code.toLowerCase().replaceAll('_', ' ')
}
