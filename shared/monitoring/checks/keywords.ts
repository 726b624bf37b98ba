import type { SignalKind } from '../../contracts/signal-kind.ts'
import type { CheckFilters } from './check.ts'
import type { PingType } from './state-machine.ts'

/** Bytes of a request body that are searched, and at most stored (docs/spec/monitoring.md#keyword-text). */
const SCANNED_BODY_BYTES = 10_000

/** The text of a request body: its first 10,000 bytes; what is no UTF-8, a cut character included, is replaced. */
export function decodeBodyText(body: Uint8Array | null): string {
  return body === null ? '' : decoder.decode(body.subarray(0, SCANNED_BODY_BYTES))
}

/**
 * What a request to a ping URL counts as. The method restriction comes first and is final; then keywords replace
 * regardless of the URL (docs/spec/monitoring.md#keyword-filters). `bodyText` is looked at only when `filterHttpBody` is set:
 * a caller in a hurry may pass the empty string otherwise.
 */
export function classifyHttp(
  check: CheckFilters,
  ping: { kind: SignalKind; method: string; bodyText: string },
): PingType {
  if (check.methods === 'POST' && ping.method !== 'POST') return 'ign'
  return check.filterHttpBody ? classifyText(check, ping.bodyText) : ping.kind
}

/**
 * What a mail to a check counts as: success unless one of the mail filters is on. The method restriction does not
 * apply. `textPieces` are the first plain part and the text of the first HTML part (docs/spec/monitoring.md#keyword-text).
 */
export function classifyEmail(check: CheckFilters, mail: { subject: string; textPieces: readonly string[] }): PingType {
  if (!check.filterSubject && !check.filterBody) return 'success'
  const pieces = [...(check.filterSubject ? [mail.subject] : []), ...(check.filterBody ? mail.textPieces : [])]
  return classifyText(check, pieces.join('\n'))
}

function classifyText(check: CheckFilters, text: string): PingType {
  if (containsKeyword(text, check.failureKw)) return 'fail'
  if (containsKeyword(text, check.successKw)) return 'success'
  if (containsKeyword(text, check.startKw)) return 'start'
  return check.filterDefaultFail ? 'fail' : 'ign'
}

/** Case-sensitive, plain substrings; a comma separates, so it cannot be part of a keyword. */
function containsKeyword(text: string, keywords: string): boolean {
  return keywords.split(',').some((piece) => {
    const keyword = piece.trim()
    return keyword !== '' && text.includes(keyword)
  })
}

// A byte order mark is text like any other here: it must not vanish from what is searched.
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })
