import { listUsage } from '#shared/risk/metering/store.ts'
import { dayText } from '#shared/risk/packs/pdf/figures.ts'
import { usageByFamily } from '#shared/risk/risk-console/store.ts'
import type { Context, Pages } from '../frame/context.ts'
import { CONSOLE, openConsole, sendConsole } from './console.tsx'

/** Rows of the table of days. */
const DAYS = 200

/** What was metered, per family: one unit per successful call that produced evidence. */
export function usagePages(pages: Pages): void {
  pages.get(`${CONSOLE}/usage`, showUsage)
}

async function showUsage(context: Context): Promise<void> {
  const console = await openConsole(context, 'view')
  const { organisationId, env } = console
  const { db } = context.deps
  const scope = { organisationId, env, family: null, from: null, to: null, after: null, limit: DAYS }
  const [families, days] = await Promise.all([usageByFamily(db, console), listUsage(db, scope)])
  sendConsole(
    context,
    console,
    { title: 'Usage', tab: 'usage' },
    <>
      <h1>Usage</h1>
      <p class="muted">
        One unit per successful call that produced evidence. Repetitions, errors and polling are free.
      </p>
      {families.length === 0 && <p class="empty">Nothing was metered yet.</p>}
      {families.length > 0 && (
        <section class="card table-card">
          <table class="plain-table figures">
            <caption class="hidden">Units per family</caption>
            <thead>
              <tr>
                <th scope="col">Family</th>
                <th scope="col">Today (UTC)</th>
                <th scope="col">30 days</th>
                <th scope="col">Ever</th>
              </tr>
            </thead>
            <tbody>
              {families.map(({ family, today, month, total }) => (
                <tr key={family}>
                  <th scope="row">{family}</th>
                  <td class="figure">{today}</td>
                  <td class="figure">{month}</td>
                  <td class="figure">{total}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {days.length > 0 && (
        <section class="card table-card">
          <table class="plain-table figures">
            <caption class="hidden">Units per day</caption>
            <thead>
              <tr>
                <th scope="col">Day</th>
                <th scope="col">Family</th>
                <th scope="col">Units</th>
              </tr>
            </thead>
            <tbody>
              {days.map(({ date, family, units }) => (
                <tr key={`${date} ${family}`}>
                  <th scope="row">{dayText(date)}</th>
                  <td>{family}</td>
                  <td class="figure">{units}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>,
  )
}
