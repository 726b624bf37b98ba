import { type FixedStyle, fixedStyle, placed, type SegmentStyle, segmentStyle } from './bureau-styles.ts'

export interface Segment {
  tag: string
  id: string
  fields: Map<string, string>
}

/** Accounts have the names that mappings use. */
export interface BureauRecord {
  accounts: ReadonlyMap<string, string>[]
  persons: number
}

export function readSegments(text: string): Segment[] | undefined {
  const segments: Segment[] = []
  let at = 0
  /** Two characters of tag, two digits of length, and a value. */
  const take = (tag: RegExp): { tag: string; value: string } | undefined => {
    const name = text.slice(at, at + 2)
    const digits = text.slice(at + 2, at + 4)
    if (!tag.test(name) || !/^[0-9]{2}$/.test(digits)) return undefined
    const end = at + 4 + Number(digits)
    if (end > text.length) return undefined
    const value = text.slice(at + 4, end)
    at = end
    return { tag: name, value }
  }
  for (;;) {
    at += /^[\r\n]*/.exec(text.slice(at))?.[0].length ?? 0
    if (at === text.length) return segments
    const head = take(/^[A-Z]{2}$/)
    if (!head) return undefined
    const fields = new Map<string, string>()
    while (/^[0-9]{2}/.test(text.slice(at, at + 2))) {
      const field = take(/^[0-9]{2}$/)
      if (!field) return undefined
      fields.set(field.tag, field.value)
    }
    segments.push({ tag: head.tag, id: head.value, fields })
  }
}

export function readBorrower(
  text: string,
  header: ReadonlyMap<string, string>,
  style: SegmentStyle = segmentStyle,
): BureauRecord | undefined {
  const segments = readSegments(text)
  if (!segments) return undefined
  const accounts = segments
    .filter(({ tag }) => tag === style.account)
    .map(
      ({ tag, fields }) =>
        new Map([...header, ...[...fields].map(([name, value]) => [`${tag}.${name}`, value] as const)]),
    )
  return { accounts, persons: segments.filter(({ tag }) => style.persons.includes(tag)).length }
}

/** Uses the names of mappings. */
export function readSegmentHeader(text: string, { header }: SegmentStyle = segmentStyle): Map<string, string> {
  return new Map(header.fields.map((field) => [`header.${field.name}`, placed(text, field)]))
}

/** Returns undefined when a segment exceeds the text. */
export function readBase(text: string, { base, segments, persons }: FixedStyle = fixedStyle): BureauRecord | undefined {
  if (text.length < base.length) return undefined
  let found = 0
  for (let at = base.length; at < text.length; ) {
    const id = text.slice(at, at + 2)
    const length = segments[id]
    if (length === undefined || at + length > text.length) return undefined
    if (persons.includes(id)) found += 1
    at += length
  }
  const account = new Map(base.fields.map((field) => [`base.${field.name}`, placed(text, field)]))
  return { accounts: [account], persons: found }
}
