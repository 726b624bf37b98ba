import type { Micros } from '../../time.ts'

/** What is stored. `grace` and `started` are never stored: status.ts derives them at read time. */
export type StoredStatus = 'new' | 'up' | 'down' | 'paused'

/** Status in the API, badges and metrics (docs/spec/monitoring.md#shown-status). */
export type ShownStatus = StoredStatus | 'grace'

type CheckKind = 'simple' | 'cron' | 'oncalendar'

/** When the check is expected to be pinged. The values of the other kind stay stored, hidden. */
export interface CheckSchedule {
  kind: CheckKind
  timeoutSeconds: number
  graceSeconds: number
  /** cron or OnCalendar text as sent, untrimmed; empty for a check that never had one */
  schedule: string
  /** IANA name, as stored after alias replacement (docs/spec/monitoring.md#time-zones) */
  tz: string
}

/** How pings are told apart (monitoring behaviour sections 1.4 and 3). */
export interface CheckFilters {
  manualResume: boolean
  methods: '' | 'POST'
  startKw: string
  successKw: string
  failureKw: string
  filterSubject: boolean
  filterBody: boolean
  filterHttpBody: boolean
  filterDefaultFail: boolean
}

/** State that pings and time change (docs/spec/monitoring.md#check-state). */
export interface CheckState {
  status: StoredStatus
  nPings: number
  lastPing: Micros | null
  /** time of the last start signal that is still open */
  lastStart: Micros | null
  lastStartRid: string | null
  /** length of the last measured run, in microseconds */
  lastDuration: Micros | null
  /** the instant at which the sweeper must look; null when the check cannot go down by itself */
  alertAfter: Micros | null
  /** end of the last gap of ours in which a ping was expected: a success, for deadlines only (gaps/judge.ts) */
  deadlineExtendedAt: Micros | null
  /** which rules reach into what is true of it (rule-bits.ts); absent is 0: a plain check */
  ruleBits?: number
}

export interface Check extends CheckSchedule, CheckFilters, CheckState {
  /** internal, grows with creation: the order of lists */
  id: number
  uuid: string
  projectId: number
  name: string
  slug: string
  /** exactly as sent; tags.ts splits them */
  tags: string
  desc: string
  /** random uuid of the check's own badge, unrelated to its uuid */
  badgeKey: string
}
