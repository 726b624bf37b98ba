import type { CacheChange } from '../../contracts/cache-change.ts'
import type { Barriers } from '../../platform/broker/barrier.ts'
import type { Outbox } from '../../platform/broker/outbox.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import type { Micros } from '../../time.ts'

/** What operations are given beside the database; each names what it uses of it. Listeners have all of it. */
export interface OperationDeps {
  config: Pick<Config, 'allowPrivateTargets' | 'checkLimit' | 'publicUrl' | 'shellEnabled' | 'siteName' | 'smtpUrl'>
  secrets: Secrets
  /** null on the operator's command line, which vouches for the addresses of e-mail integrations: nobody is asked */
  outbox: Pick<Outbox, 'run'> | null
  barrier: Pick<Barriers, 'pass'>
  /** the database's time */
  now(): Micros
  /** tells every ingress process, after the change has committed */
  announce(change: CacheChange): void
}
