import { daysInMonth, parsePaise, toInr } from '../../packs/money.ts'
import type { CellTransform } from './file-mapping.ts'
import type { RowCode } from './import.ts'

export type CellValue = { value: string | number } | { code: RowCode }

/** rupees: ten lakh crore */
const MAX_RUPEES = 1e13
const MAX_DAYS = 36_500

const ASSET_CLASSES: Readonly<Record<string, string>> = {
  STANDARD: 'STANDARD',
  'SMA-0': 'SMA-0',
  'SMA-1': 'SMA-1',
  'SMA-2': 'SMA-2',
  SMA0: 'SMA-0',
  SMA1: 'SMA-1',
  SMA2: 'SMA-2',
  NPA: 'NPA',
  SUBSTANDARD: 'SUB-STANDARD',
  'SUB-STANDARD': 'SUB-STANDARD',
  DOUBTFUL: 'DOUBTFUL',
  'DOUBTFUL-1': 'DOUBTFUL',
  'DOUBTFUL-2': 'DOUBTFUL',
  'DOUBTFUL-3': 'DOUBTFUL',
  LOSS: 'LOSS',
}

/** The text has no surrounding blanks. */
export function readCell(transform: CellTransform, text: string): CellValue {
  switch (transform) {
    case 'asset-class': {
      const known = ASSET_CLASSES[text.toUpperCase().replaceAll(/[\s_]+/g, '-')]
      return known === undefined ? { code: 'OUT_OF_RANGE' } : { value: known }
    }
    case 'code':
      // Rejects text that a spreadsheet would execute as a formula.
      return /^[A-Za-z0-9][A-Za-z0-9 ()+/.-]{0,59}$/.test(text) ? { value: text } : { code: 'OUT_OF_RANGE' }
    case 'date':
      return dateOf(text)
    case 'date-ddmmyyyy':
      return /^[0-9]{8}$/.test(text) ? dayOf(text.slice(4), text.slice(2, 4), text.slice(0, 2)) : { code: 'NOT_DATE' }
    case 'date-mmddyyyy':
      return /^[0-9]{8}$/.test(text) ? dayOf(text.slice(4), text.slice(0, 2), text.slice(2, 4)) : { code: 'NOT_DATE' }
    case 'integer':
      return wholeOf(text)
    case 'months': {
      const months = wholeOf(text.replace(/ *months?$/i, ''))
      return 'value' in months && Number(months.value) > 1_200 ? { code: 'OUT_OF_RANGE' } : months
    }
    case 'money':
      return moneyOf(text)
    case 'percent': {
      const bps = bpsOf(text)
      return 'value' in bps ? { value: Number(bps.value) / 100 } : bps
    }
    case 'rate-bps':
      return bpsOf(text)
    case 'text':
      return text.length <= 200 && !/\p{C}/u.test(text) ? { value: text } : { code: 'OUT_OF_RANGE' }
  }
}

/** `12,34,567` and `1,234,567`: the last group has three digits, so that a decimal comma is not a group separator. */
const GROUPED = /^-?(?:[0-9]{1,2}(?:,[0-9]{2})*|[0-9]{1,3}(?:,[0-9]{3})*),[0-9]{3}(?:\.[0-9]+)?$/

function moneyOf(text: string): CellValue {
  const plain = GROUPED.test(text) ? text.replaceAll(',', '') : text
  if (/^-?[0-9]{14,}(?:\.[0-9]*)?$/.test(plain)) return { code: 'OUT_OF_RANGE' }
  const paise = parsePaise(plain)
  if (paise === undefined) return { code: 'NOT_MONEY' }
  if (paise < 0) return { code: 'NEGATIVE' }
  const rupees = toInr(paise)
  return rupees > MAX_RUPEES ? { code: 'OUT_OF_RANGE' } : { value: rupees }
}

function wholeOf(text: string): CellValue {
  if (/^-[0-9]+$/.test(text) && !/^-0+$/.test(text)) return { code: 'NEGATIVE' }
  if (!/^[0-9]+(?:\.0+)?$/.test(text)) return { code: 'NOT_INTEGER' }
  return Number(text) > MAX_DAYS ? { code: 'OUT_OF_RANGE' } : { value: Number(text) }
}

/** `10.65%` or `10.65` is 1065; the maximum is 10,000. */
function bpsOf(text: string): CellValue {
  const match = /^(-?)([0-9]{1,6})(?:\.([0-9]{1,2})0*)? *%?$/.exec(text)
  if (!match) return { code: 'NOT_INTEGER' }
  const [, sign = '', whole = '', decimals = ''] = match
  const bps = Number(whole) * 100 + Number(decimals.padEnd(2, '0'))
  if (sign !== '' && bps > 0) return { code: 'NEGATIVE' }
  return bps > 10_000 ? { code: 'OUT_OF_RANGE' } : { value: bps }
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** `2015-12-31`, `31-12-2015`, `31/12/2015`, `31-Dec-2015`, and months: `Dec-2015`, `2015-12` */
function dateOf(text: string): CellValue {
  const iso = /^([0-9]{4})-([0-9]{2})(?:-([0-9]{2}))?$/.exec(text)
  if (iso) return dayOf(iso[1], iso[2], iso[3])
  const indian = /^([0-9]{1,2})[-/]([0-9]{1,2})[-/]([0-9]{4})$/.exec(text)
  if (indian) return dayOf(indian[3], indian[2], indian[1])
  const named = /^(?:([0-9]{1,2})[- ])?([A-Za-z]{3})[- ]([0-9]{4})$/.exec(text)
  if (!named) return { code: 'NOT_DATE' }
  const month = MONTHS.indexOf(named[2]?.toLowerCase() ?? '') + 1
  return dayOf(named[3], String(month), named[1])
}

/** `day` is undefined for a month. */
function dayOf(year = '', month = '', day?: string): CellValue {
  const start = `${year}-${month.padStart(2, '0')}`
  const isMonth = Number(month) >= 1 && Number(month) <= 12
  const isDay = day === undefined || (Number(day) >= 1 && Number(day) <= daysInMonth(start))
  if (!isMonth || !isDay) return { code: 'NOT_DATE' }
  if (year < '1900' || year > '2999') return { code: 'OUT_OF_RANGE' }
  return { value: day === undefined ? start : `${start}-${day.padStart(2, '0')}` }
}
