import type { SignalKind } from '../../contracts/signal-kind.ts'
import type { CheckFilters } from './check.ts'
import { type MemberText, memberText } from './json-pointer.ts'
import type { PingType } from './state-machine.ts'

/** Bytes of a request body that are searched and stored (docs/spec/monitoring.md#keyword-text). */
const SCANNED_BODY_BYTES = 10_000

/** Invalid UTF-8 and a cut character become U+FFFD. */
export function decodeBodyText(body: Uint8Array | null): string {
  return body === null ? '' : decoder.decode(body.subarray(0, SCANNED_BODY_BYTES))
}

/** Reason why the filter of a check found no text in a request body. */
export type NoTextReason = 'not-json' | 'cut' | 'no-member'

/** Text of a request body for the keyword search; empty with a reason if the body has no such text. */
export interface SearchedText {
  bodyText: string
  problem: NoTextReason | null
}

/** Returns the text that the filters of a check search (docs/spec/monitoring.md#keyword-text). */
export function searchedText(check: CheckFilters, body: Uint8Array | null): SearchedText {
  if (!check.filterHttpBody) return NO_TEXT
  const text = decodeBodyText(body)
  const pointer = check.filterRules?.json ?? null
  if (pointer === null) return { bodyText: text, problem: null }
  const length = body?.length ?? 0
  const found: MemberText = length > SCANNED_BODY_BYTES ? NOT_JSON : memberText(text, pointer)
  if (found.ok) return { bodyText: found.text, problem: null }
  // The listener may have cut the body at the same limit.
  const isCut = found.problem === 'not-json' && length >= SCANNED_BODY_BYTES
  return { bodyText: '', problem: isCut ? 'cut' : found.problem }
}

const NO_TEXT: SearchedText = Object.freeze({ bodyText: '', problem: null })
const NOT_JSON: MemberText = { ok: false, problem: 'not-json' }

/**
 * Classifies a request to a ping URL (docs/spec/monitoring.md#keyword-filters). A method that does not count is final;
 * otherwise keywords override the URL. `bodyText` may be empty if `filterHttpBody` is not set.
 */
export function classifyHttp(
  check: CheckFilters,
  ping: { kind: SignalKind; method: string; bodyText: string },
): PingType {
  if (check.methods === 'POST' && ping.method !== 'POST') return 'ign'
  if (!check.filterHttpBody) return ping.kind
  return typeByKeyword(check, ping.bodyText) ?? otherwise(check, ping.kind)
}

/** Success unless a mail filter is on (docs/spec/monitoring.md#keyword-text). */
export function classifyEmail(check: CheckFilters, mail: { subject: string; textPieces: readonly string[] }): PingType {
  if (!check.filterSubject && !check.filterBody) return 'success'
  const pieces = [...(check.filterSubject ? [mail.subject] : []), ...(check.filterBody ? mail.textPieces : [])]
  return typeByKeyword(check, pieces.join('\n')) ?? otherwise(check, 'success')
}

/** @param urlKind the type that the URL requests; a mail counts as success */
function otherwise(check: CheckFilters, urlKind: SignalKind): PingType {
  if (check.filterRules?.else === 'url') return urlKind
  return check.filterDefaultFail ? 'fail' : 'ign'
}

function typeByKeyword(check: CheckFilters, text: string): PingType | null {
  if (containsKeyword(text, check.failureKw)) return 'fail'
  if (containsKeyword(text, check.successKw)) return 'success'
  if (containsKeyword(text, check.startKw)) return 'start'
  return null
}

/** Keywords are case-sensitive substrings. A comma separates them, so it cannot be part of one. */
function containsKeyword(text: string, keywords: string): boolean {
  return keywords.split(',').some((piece) => {
    const keyword = piece.trim()
    return keyword !== '' && text.includes(keyword)
  })
}

// Keeps a byte order mark, because it is part of the searched text.
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })
