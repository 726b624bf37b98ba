import type { MailText } from '#shared/contracts/mail-text.ts'
import type { AcceptedMail, AcceptedPing } from '#shared/contracts/ping-batch.ts'
import type { NextOccurrence } from '#shared/monitoring/checks/check.ts'
import {
  classifyEmail,
  classifyHttp,
  type NoTextReason,
  type SearchedText,
  searchedText,
} from '#shared/monitoring/checks/keywords.ts'
import type { LockedCheck } from '#shared/monitoring/checks/lock-store.ts'
import { RULE_BITS } from '#shared/monitoring/checks/rule-bits.ts'
import { applySignal, type PingType } from '#shared/monitoring/checks/state-machine.ts'
import type { NewFlip } from '#shared/monitoring/flips/store.ts'
import { listedSubject } from '#shared/monitoring/pings/mail-text.ts'
import type { IgnoredReason, RecordedPing } from '#shared/monitoring/pings/record-store.ts'
import { isPreview } from '#shared/monitoring/pings/url.ts'
import { applyRules, type RuleState } from '#shared/monitoring/rules/rule-state.ts'
import { createTimeSlices } from '#shared/platform/process/time-slices.ts'

export interface Evaluation {
  pings: RecordedPing[]
  flips: NewFlip[]
  changed: LockedCheck[]
  /** the checks of `changed` with a late signal: their open run must be computed from the recorded pings */
  late: LockedCheck[]
  dropped: number
  /** slices of 10 ms that the evaluation took */
  slices: number
}

/**
 * Applies pings in the order of arrival. Changes `checks` and `ruleState` in place. Yields to the event loop, because a
 * ping of a check with a complex schedule is expensive.
 * @param largeMails signals of the mails whose text is not in the message
 * @param ruleState state of the checks with rules
 */
export async function evaluate(
  checks: ReadonlyMap<number, LockedCheck>,
  pings: readonly AcceptedPing[],
  next: NextOccurrence,
  largeMails: ReadonlyMap<AcceptedPing, PingType> = NO_MAILS,
  ruleState: ReadonlyMap<number, RuleState> = NO_RULES,
): Promise<Evaluation> {
  const slices = createTimeSlices()
  const changed = new Set<LockedCheck>()
  const late = new Set<LockedCheck>()
  const recorded: RecordedPing[] = []
  const flips: NewFlip[] = []
  let dropped = 0
  for (const ping of inOrderOfArrival(pings)) {
    await slices.yieldIfNeeded()
    const check = checks.get(ping.checkId)
    if (!check) {
      dropped += 1
      continue
    }
    const ruleReason = ignoredByRule(check, ping)
    const searched = ruleReason || ping.mail ? null : searchedText(check, ping.body)
    const kind = ruleReason
      ? 'ign'
      : ping.mail
        ? (largeMails.get(ping) ?? classifyMail(check, ping.mail.text))
        : classifyHttp(check, { kind: ping.kind, method: ping.method, bodyText: searched?.bodyText ?? '' })
    const signal = { kind, at: ping.receivedAt, rid: ping.rid }
    const facts = ruleState.get(check.id)
    const outcome = facts
      ? applyRules(check, facts, { ...signal, source: ping.source ?? '' }, next)
      : applySignal(check, signal, next)
    changed.add(check)
    if (outcome.late) late.add(check)
    if (outcome.flip) flips.push({ ...outcome.flip, checkId: check.id, at: ping.receivedAt })
    recorded.push({
      checkId: check.id,
      n: check.nPings,
      type: outcome.type,
      at: ping.receivedAt,
      scheme: ping.scheme,
      remoteAddr: ping.remoteAddr,
      method: ping.method,
      ua: ping.ua,
      rid: ping.rid,
      exitStatus: ping.exitStatus,
      ignored: outcome.uncounted
        ? 'source'
        : outcome.type === 'ign'
          ? (ruleReason ?? reasonOf(check, ping, kind, searched))
          : (searched?.problem ?? null),
      body: ping.body,
      ...(ping.mail ? mailMembers(ping.mail, ping.body) : null),
    })
  }
  return { pings: recorded, flips, changed: [...changed], late: [...late], dropped, slices: slices.count() }
}

const NO_RULES: ReadonlyMap<number, RuleState> = new Map()
const NO_MAILS: ReadonlyMap<AcceptedPing, PingType> = new Map()

function ignoredByRule({ ruleBits = 0 }: LockedCheck, { mail, method, ua }: AcceptedPing): IgnoredReason | null {
  if (ruleBits === 0) return null
  if (mail && (ruleBits & RULE_BITS.pingAuth) !== 0) return 'secret'
  return (ruleBits & RULE_BITS.previews) !== 0 && isPreview(method, ua) ? 'preview' : null
}

/** @param kind signal of the ping before the state of the check is considered */
function reasonOf(
  check: LockedCheck,
  ping: AcceptedPing,
  kind: PingType,
  searched: SearchedText | null,
): IgnoredReason | NoTextReason {
  if (kind !== 'ign') return 'paused'
  if (!ping.mail && check.methods === 'POST' && ping.method !== 'POST') return 'method'
  return searched?.problem ?? 'keywords'
}

/** The subject is a part of the body, so it is stored only with the body. */
function mailMembers({ text, storedBody, subject }: AcceptedMail, body: Buffer | null) {
  if (body === null && storedBody === null) return null
  const listed = text ? listedSubject(text.subject) : subject
  return { ...(storedBody !== null && { storedBody }), ...(listed !== undefined && { subject: listed }) }
}

/** A mail whose text was deleted counts as one without text. */
export function classifyMail(check: LockedCheck, text: MailText | null): PingType {
  return classifyEmail(check, { subject: text?.subject ?? '', textPieces: text?.pieces ?? [] })
}

/** Omits the pings of a large batch that do not fit into the log of their check. */
export function withinLog(evaluation: Evaluation, logLimit: number): RecordedPing[] {
  if (evaluation.pings.length <= logLimit) return evaluation.pings
  const newest = new Map(evaluation.changed.map((check) => [check.id, check.nPings]))
  return evaluation.pings.filter((ping) => ping.n > (newest.get(ping.checkId) ?? 0) - logLimit)
}

/** Several listeners publish concurrently, so a batch is almost in order. */
function inOrderOfArrival(pings: readonly AcceptedPing[]): readonly AcceptedPing[] {
  const isOrdered = pings.every((ping, index) => index === 0 || (pings[index - 1]?.receivedAt ?? 0) <= ping.receivedAt)
  return isOrdered ? pings : pings.toSorted((a, b) => a.receivedAt - b.receivedAt)
}
