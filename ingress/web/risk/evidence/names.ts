import { dayText, words } from '#shared/risk/packs/pdf/figures.ts'

/** Codes whose words are an abbreviation or not the term of the field. */
const NAMES: Readonly<Record<string, string>> = {
  IMS: 'Invoice Management System (IMS)',
  TREDS: 'Receivables platform (TReDS)',
  BUYER_PORTAL: 'Portal of the buyer',
  EBRC: 'e-BRC',
  IEC: 'Exporter code (IEC)',
  PAN: 'PAN register',
  CKYC: 'Central KYC registry (CKYC)',
  PRESENTATION: 'Presentation of a wallet',
  DOCUMENT: 'Signed document',
  REGISTRY: 'Registry',
}

/** `CREDIT_NOTE` is `Credit note`. */
export function codeName(code: string): string {
  const text = words(code)
  return NAMES[code] ?? text.charAt(0).toUpperCase() + text.slice(1)
}

/** The name of an identity factor: `presentation`, `document` or `registry.PAN`. */
export function factorName(key: string): string {
  return codeName(key.replace(/^registry\./, '').toUpperCase())
}

/** `2026-11` is `Nov 2026`. */
export function monthText(month: string): string {
  return dayText(`${month}-01`).replace(/^1 /, '')
}

/** Converts basis points: 1234 is `12.34 %`. */
export function percentText(bps: number | null): string {
  return bps === null ? 'unknown' : `${(bps / 100).toFixed(2)} %`
}
