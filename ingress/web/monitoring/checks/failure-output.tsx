import type { Knex } from 'knex'
import { findPing } from '#shared/monitoring/pages/check-log-store.ts'
import { tableOf } from '#shared/monitoring/pings/kept-failure-store.ts'
import { firstLine } from './ping-body.ts'

export interface FailureOutput {
  n: number
  /** first line of the body; empty for a mail, a binary body or none */
  line: string
}

/** Returns null if the ping is not stored any more. */
export async function readFailureOutput(
  deps: { db: Knex; config: { pingLogLimit: number; keptFailures: number } },
  check: { id: number; nPings: number },
  n: number,
): Promise<FailureOutput | null> {
  const table = await tableOf(deps, check, n)
  const ping = table ? await findPing(deps.db, table, check.id, n) : null
  return ping && { n, line: ping.scheme === 'email' ? '' : firstLine(ping.body) }
}

/** @param props.path of the check's page */
export function Output({
  output,
  path,
  showsBody,
}: {
  output: FailureOutput | null
  path: string
  showsBody: boolean
}) {
  if (!output) return null
  const line = showsBody ? output.line : ''
  return (
    <p>
      Last failure: <a href={`${path}/pings/${output.n}`}>ping #{output.n}</a>
      {line !== '' && (
        <>
          {': '}
          <code class="breakable">{line}</code>
        </>
      )}
    </p>
  )
}
