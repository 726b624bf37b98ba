import type { Micros } from '../../time.ts'
import type { CheckSchedule } from '../checks/check.ts'
import type { Fact, NamedList } from './text-parts.ts'

/** Reason of a flip; empty for a success ping (docs/spec/monitoring.md#state-transitions). */
export type FlipReason = '' | 'timeout' | 'fail'

export interface Notification {
  /** uuid, the same in every attempt, so that receivers can detect duplicates */
  id: string
  status: 'up' | 'down'
  reason: FlipReason
  /** when the check changed; for a timeout the deadline, not the time of the sweep */
  flipAt: Micros
  /** length of the outage that an up message ends; null if unknown */
  downFor: Micros | null
  integration: NotifiedIntegrationRef
  check: NotifiedCheck
  projectName: string
  /** the newest ping not later than `flipAt` */
  lastPing: NotifiedPing | null
  urls: NotificationUrls
  timeZone: string
  /** all checks of the project; null if the reader is not a member */
  overview: readonly OverviewLine[] | null
  isTest: boolean
  alert?: AlertLinks
  /** number of checks that depend on a down check (docs/spec/alerting.md#dependencies); absent if 0 */
  dependents?: number
  sources?: string
  summary?: Summary
  /** shortened form for services that do not accept the whole message */
  brevity?: 'alert-facts' | 'title'
}

/** Stored, so that every attempt sends the same. */
export interface Summary {
  title: string
  text: string
  facts: readonly Fact[]
  /** the parts of `text`, so that it can be shortened */
  list: NamedList
  link: string
  /** label of the link in mails and chat messages; default `Open the list` */
  linkText?: string
  /** acknowledges all open incidents of a bundle; not stored */
  ackUrl?: string
  /** values of `$GROUP_COUNT` and `$GROUP_JSON` in a digest */
  group?: { count: number; members: readonly object[] }
}

export interface AlertLinks {
  incidentId: string
  what: 'first' | 'repeat' | 'recovery' | 'flapping'
  severity: string
  downAt: Micros
  /** from 1; null if no step sent the message */
  step: number | null
  /** number of steps of the policy; null without a policy */
  steps: number | null
  /** time until the next notification; null if none follows or it is not known */
  nextIn: Micros | null
  /** `You are on call (Primary), policy "Nights".`; empty for an integration */
  recipientText: string
  /** 0 for the first message of its step */
  repeat: number
  url: string
  /** page for acknowledging without signing in */
  ackUrl: string
  /** time since `downAt` */
  downAgo: Micros
  lateBy: Micros
  lateReason: string
  /** name of the window or parent that suppressed the message until now; may be empty */
  suppressedBy: string
}

interface NotifiedIntegrationRef {
  id: string
  name: string
  /** only for kind `email`: the recipient has consented */
  isEmailVerified: boolean
}

export interface NotifiedCheck extends CheckSchedule {
  uuid: string
  /** may be empty: `checkLabel` then falls back to the uuid */
  name: string
  slug: string
  /** as stored; `shared/monitoring/checks/tags.ts` splits them */
  tags: string
  desc: string
  /** identifies the check in outside systems and in links that others may see */
  uniqueKey: string
  nPings: number
  /** value of `$JSON`: the check as the API shows it to a read-write key */
  json: string
}

export interface NotifiedPing {
  n: number
  type: 'success' | 'start' | 'fail' | 'log' | 'ign'
  at: Micros
  scheme: 'http' | 'https' | 'email'
  method: string
  remoteAddr: string | null
  ua: string
  exitStatus: number | null
  body: Buffer | null
}

interface NotificationUrls {
  /** without a slash at the end */
  site: string
  /** contains the unique key instead of the uuid, because messages are forwarded */
  check: string
  /** one-click unsubscribe link of e-mails; null for other kinds */
  unsubscribe: string | null
}

interface OverviewLine {
  label: string
  status: string
  lastPingAt: Micros | null
}
