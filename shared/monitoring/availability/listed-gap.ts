import type { Micros } from '../../time.ts'

/** A gap as a project sees it. */
export interface ListedGap {
  id: number
  listener: 'http' | 'smtp' | 'sweeper' | 'notifier'
  from: Micros
  /** null while it is open */
  until: Micros | null
  kind: 'full' | 'partial' | 'clock' | 'detection'
  cause: string
  /** every check could be in it, or only those of some shards */
  scope: 'all' | 'some'
  /** of this project, that became unknown by it */
  checks: number
  /** of these, that were heard after it */
  heard: number
}
