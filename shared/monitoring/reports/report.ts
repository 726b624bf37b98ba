import type { Micros } from '../../time.ts'

export interface ProjectReport {
  uuid: string
  name: string
  up: Micros
  down: Micros
  /** time in which pings could not be received */
  unknown: Micros
  incidents: number
  /** at most five checks with the most downtime, longest first */
  worst: { uuid: string; name: string; down: Micros }[]
  silent: { uuid: string; name: string }[]
  /** messages to integrations and persons that were not delivered; a bundle counts as one */
  unreached: number
}

export interface DownCheck {
  uuid: string
  name: string
  tags: string
  projectId: number
  projectName: string
  downAt: Micros
}
