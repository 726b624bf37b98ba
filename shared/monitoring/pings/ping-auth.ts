import type { Micros } from '../../time.ts'
import type { SourceRule } from '../rules/source-rule.ts'

/** Requirements that a ping must meet before it is accepted (docs/spec/alerting.md#sources). */
export interface PingAuthRules {
  /** where a ping names its source; null where no source is asked for */
  by: SourceRule['by'] | null
  /** null where no secret is asked for */
  auth: PingAuth | null
}

export interface PingAuth {
  mode: 'bearer' | 'hmac'
  /** null where what is stored cannot be opened: then no ping shows it */
  secret: string | null
  /** the one before, while it still counts */
  previous: { secret: string; until: Micros } | null
}
