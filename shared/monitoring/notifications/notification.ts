import type { Micros } from '../../time.ts'
import type { CheckSchedule } from '../checks/check.ts'
import type { Fact, NamedList } from './text-parts.ts'

/** Why a check changed: empty for a success signal (docs/spec/monitoring.md#state-transitions). */
export type FlipReason = '' | 'timeout' | 'fail'

/** One message about one change of one check through one integration: all that a transport may know. */
export interface Notification {
  /** uuid, the same at every attempt, so that receivers can recognise a repetition */
  id: string
  status: 'up' | 'down'
  reason: FlipReason
  /** when the check changed; for a time-out the deadline, not the moment of the sweep */
  flipAt: Micros
  /** how long the outage lasted that an up message ends; null for down messages and when unknown */
  downFor: Micros | null
  channel: NotifiedIntegrationRef
  check: NotifiedCheck
  projectName: string
  /** the newest ping not later than `flipAt` */
  lastPing: NotifiedPing | null
  urls: NotificationUrls
  /** IANA zone of the reader, for times in messages */
  timeZone: string
  /** all checks of the project, for readers who hold an account in it; null for everybody else */
  overview: readonly OverviewLine[] | null
  /** a message that somebody asked for to try the integration */
  isTest: boolean
  /** its place in an incident; absent where no policy applies */
  alert?: AlertLinks
  /** of a check that is down: how many checks depend on it (docs/spec/alerting.md#dependencies); absent when none does */
  dependents?: number
  /** of a check that is down and that several sources report for: the sentence of `quorumText` about them */
  sources?: string
  /** of a message about several checks: what it says, in place of one change */
  summary?: Summary
  /** set for services that do not accept the whole message; the whole message when absent */
  brevity?: 'alert-facts' | 'title'
}

/** What a message about several checks says; kept with the message, so that every attempt says the same. */
export interface Summary {
  /** `312 checks are DOWN` */
  title: string
  text: string
  facts: readonly Fact[]
  /** the parts of `text`, so that it can be shortened */
  list: NamedList
  /** the page that shows them all */
  link: string
  /** of a digest: what `$GROUP_COUNT` and `$GROUP_JSON` stand for */
  group?: { count: number; members: readonly object[] }
}

/** What a message under a policy knows of its incident. */
export interface AlertLinks {
  /** uuid */
  incidentId: string
  what: 'first' | 'repeat' | 'recovery' | 'flapping'
  severity: string
  downAt: Micros
  /** from 1; null for messages that no step makes */
  step: number | null
  /** 0 for the first message of its step */
  repeat: number
  /** the page of the incident, for those who may sign in */
  url: string
  /** the signed page on which it can be acknowledged */
  ackUrl: string
  /** how long after its time the message is sent */
  lateBy: Micros
  /** why, as decisions say it */
  lateReason: string
  /** name of the window or the check that held it until now; empty when that is not known */
  heldBy: string
}

interface NotifiedIntegrationRef {
  id: string
  name: string
  /** whether the owner of the address has confirmed it; means nothing for kinds other than email */
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
  /** stands for the check in outside systems and in links that others may see */
  uniqueKey: string
  nPings: number
  /** the check as the API shows it to a read-write key, as JSON text; what `$JSON` stands for */
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
  /** the whole message when the scheme is email */
  body: Buffer | null
}

interface NotificationUrls {
  /** where the site lives, without a slash at the end */
  site: string
  /** the check's page, named by its unique key and never by its uuid, since messages are passed on */
  check: string
  /** ends e-mails to this address in one click; null for kinds without it */
  unsubscribe: string | null
}

interface OverviewLine {
  label: string
  status: string
  lastPingAt: Micros | null
}
