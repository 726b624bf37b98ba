import type { Micros } from '../../time.ts'

/** What a report says of one project. Lengths in microseconds. */
export interface ProjectReport {
  uuid: string
  name: string
  up: Micros
  down: Micros
  /** time in which nothing could be known, because pings could not be taken */
  unknown: Micros
  incidents: number
  /** the checks that were down the longest, at most five, the worst first */
  worst: { uuid: string; name: string; down: Micros }[]
  /** checks that nothing has been heard of for 30 days */
  silent: { uuid: string; name: string }[]
  /** messages about checks that reached nobody */
  unreached: number
}

/** A check that a reminder names. */
export interface DownCheck {
  uuid: string
  name: string
  tags: string
  projectId: number
  projectName: string
  downAt: Micros
}
