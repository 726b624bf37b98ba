import { NotFoundError } from '#shared/errors.ts'
import { proveUptime } from '#shared/monitoring/operations/uptime.ts'
import { type Micros, toDate } from '#shared/time.ts'
import { isDate } from '#shared/transparency/statements/day-record.ts'
import type { Context, Pages } from '../../shell/context.ts'
import { requireCheckPage } from '../../shell/workspace.ts'

const MONTHS = 3

/** Exports the anchored history of a check, one file per month. Any reader can verify it. */
export function uptimeProofPages(pages: Pages): void {
  pages.get('/checks/:check/uptime-proof', sendProof)
}

async function sendProof(context: Context): Promise<void> {
  const { check, project } = await requireCheckPage(context, 'view')
  const month = context.query.get('month') ?? ''
  if (!isDate(`${month}-01`)) throw new NotFoundError('There is no such month.')
  const [year = 0, ordinal = 0] = month.split('-').map(Number)
  const until = new Date(Date.UTC(year, ordinal, 0)).toISOString().slice(0, 10)
  const proof = await proveUptime(context.deps.db, { ...check, projectId: project.id }, { from: `${month}-01`, until })
  context.response
    .set({ 'Content-Type': 'application/json', 'Content-Disposition': `attachment; filename="uptime-${month}.json"` })
    .end(`${JSON.stringify(proof, null, 2)}\n`)
}

/** @param props.since first stated day; null if the project has no statements @param props.path of the check's page */
export function UptimeProofs({ since, path, now }: { since: string | null; path: string; now: Micros }) {
  if (since === null) return null
  const today = toDate(now)
  const months = Array.from({ length: MONTHS }, (_, back) =>
    new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - back, 1)).toISOString().slice(0, 7),
  )
  return (
    <section class="card" aria-labelledby="proofs">
      <h2 id="proofs">Provable history</h2>
      <p class="muted">
        The statement of each day, with proofs from the transparency log. Anyone can <a href="/verify">verify</a> the
        file: it shows that nothing was changed since, not that it was true.
      </p>
      <ul class="bare">
        {months.map((month) => (
          <li key={month}>
            <a href={`${path}/uptime-proof?month=${month}`} download>
              {monthName.format(new Date(`${month}-01`))}
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

const monthName = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })
