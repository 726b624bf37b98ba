import type { FileStyle } from './import.ts'

/** Characters count from 1, both ends included. */
export interface PlacedField {
  name: string
  from: number
  to: number
  /** eight zeros mean no date */
  isDate?: boolean
}

/** Tagged segments: two letters, a length of two digits and an id; then fields of tag, length and value. */
export interface SegmentStyle {
  style: 'segment-tlv'
  header: { starts: string; length: number; fields: readonly PlacedField[] }
  /** the segment of an account: each becomes a row */
  account: string
  /** segments of persons, which are counted and dropped */
  persons: readonly string[]
  /** end mark of a borrower */
  end: string
  /** beginning of the trailer, which a file with a header must have */
  trailer: string
}

/** Records of fixed positions; each begins with its length in four digits. */
export interface FixedStyle {
  style: 'fixed-record'
  header: { id: string; at: number }
  base: { length: number; fields: readonly PlacedField[] }
  /** lengths of the optional segments after the base, by their ids */
  segments: Readonly<Record<string, number>>
  persons: readonly string[]
  trailer: { id: string; at: number; count: PlacedField }
}

export const segmentStyle: SegmentStyle = {
  style: 'segment-tlv',
  header: { starts: 'TUDF', length: 146, fields: [{ name: 'reportedOn', from: 55, to: 62, isDate: true }] },
  account: 'TL',
  persons: ['PN'],
  end: 'ES02**',
  trailer: 'TRLR',
}

export const fixedStyle: FixedStyle = {
  style: 'fixed-record',
  header: { id: 'HEADER', at: 5 },
  base: {
    length: 426,
    fields: [
      { name: 'account', from: 43, to: 72 },
      { name: 'opened', from: 76, to: 83, isDate: true },
      { name: 'highestCredit', from: 93, to: 101 },
      { name: 'status', from: 124, to: 125 },
      { name: 'currentBalance', from: 155, to: 163 },
      { name: 'informationDate', from: 182, to: 189, isDate: true },
    ],
  },
  segments: { J1: 100, J2: 200, K1: 34, K2: 34, K3: 40, K4: 30, L1: 54, N1: 146 },
  persons: ['J1', 'J2'],
  trailer: { id: 'TRAILER', at: 5, count: { name: 'baseRecords', from: 12, to: 20 } },
}

export const LENGTH_FIELD = { from: 1, to: 4 }

export function layoutOf(style: FileStyle) {
  if (style === 'csv') return null
  const { header, trailer, base, segments } = fixedStyle
  if (style === 'fixed-record') {
    return {
      headerLength: null,
      recordLength: base.length,
      lengthField: LENGTH_FIELD,
      segmentLengths: segments,
      fields: [
        { name: 'header.id', from: header.at, to: header.at + header.id.length - 1 },
        ...base.fields.map((field) => fieldOf('base', field)),
        { name: 'trailer.id', from: trailer.at, to: trailer.at + trailer.id.length - 1 },
        fieldOf('trailer', trailer.count),
      ],
    }
  }
  return {
    headerLength: segmentStyle.header.length,
    recordLength: null,
    lengthField: null,
    segmentLengths: {},
    fields: segmentStyle.header.fields.map((field) => fieldOf('header', field)),
  }
}

function fieldOf(record: string, { name, from, to }: PlacedField) {
  return { name: `${record}.${name}`, from, to }
}

/** Empty when the record is shorter, or for a date of zeros. */
export function placed(text: string, { from, to, isDate = false }: PlacedField): string {
  const value = text.slice(from - 1, to).trim()
  return isDate && /^0*$/.test(value) ? '' : value
}
