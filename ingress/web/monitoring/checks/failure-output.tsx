import type { Knex } from 'knex'
import { findPing } from '#shared/monitoring/pages/check-log-store.ts'
import { tableOf } from '#shared/monitoring/pings/kept-failure-store.ts'
import { firstLine, lastLine } from './ping-body.ts'

export interface FailureOutput {
  n: number
  /** last line of the body, which usually contains the error; empty for a mail, a binary body or none */
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
  if (!ping) return null
  if (ping.scheme === 'email') return { n, line: '' }
  const isWhole = (ping.body?.length ?? 0) === ping.bodyBytes
  return { n, line: isWhole ? lastLine(ping.body) : firstLine(ping.body) }
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
  const { line } = output
  return (
    <p>
      Last failure: <a href={`${path}/pings/${output.n}`}>ping #{output.n}</a>
      {line !== '' && showsBody && (
        <>
          {': '}
          <code class="breakable">{line}</code>
        </>
      )}
      {line !== '' && !showsBody && '. Open it to read its body, in which ping addresses are hidden.'}
    </p>
  )
}
