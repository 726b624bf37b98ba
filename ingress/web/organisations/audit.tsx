import { listAudit } from '#shared/tenancy/accounts/audit-store.ts'
import type { Pages } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { openOrganisation } from '../frame/workspace.ts'

const PAGE_SIZE = 100

/** Who did what in an organisation, newest first. */
export function auditPages(pages: Pages): void {
  pages.get('/organisations/:organisation/audit', async (context) => {
    const opened = await openOrganisation(context, 'manage')
    const { organisation } = opened
    const before = Number(context.query.get('before') ?? Number.NaN)
    const entries = await listAudit(
      context.deps.db,
      organisation.organisationId,
      Number.isSafeInteger(before) ? before : null,
      PAGE_SIZE,
    )
    const project = opened.projects.find(({ organisationId }) => organisationId === organisation.organisationId)
    const path = `/organisations/${organisation.organisationUuid}/audit`
    const oldest = entries.at(-1)
    sendPage(
      context,
      { title: 'Audit log', workspace: opened, ...(project && { project }), area: 'audit' },
      <>
        <h1>Audit log of {organisation.organisationName}</h1>
        {entries.length === 0 && <p class="empty">No entries yet.</p>}
        {entries.length > 0 && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          <section class="card table-card scroll" tabIndex={0} aria-label="Entries">
            <table class="plain-table stacked">
              <thead>
                <tr>
                  <th scope="col">When (UTC)</th>
                  <th scope="col">Who</th>
                  <th scope="col">What</th>
                  <th scope="col">To what</th>
                  <th scope="col">From</th>
                </tr>
              </thead>
              <tbody>
                {entries.map((entry) => (
                  <tr key={entry.id}>
                    <td>
                      <time dateTime={entry.at.toISOString()}>
                        {entry.at.toISOString().slice(0, 19).replace('T', ' ')}
                      </time>
                    </td>
                    <td class="breakable">{entry.actor}</td>
                    <td>
                      <span class={entry.action === 'request.denied' ? 'pill bad' : 'pill'}>{entry.action}</span>
                    </td>
                    <td class="breakable">{entry.target}</td>
                    <td>{entry.address}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        )}
        <nav class="pager" aria-label="Pages">
          {context.query.has('before') && <a href={path}>Newest</a>}
          {entries.length === PAGE_SIZE && oldest && (
            <a href={`${path}?before=${oldest.id}`} rel="next">
              Older
            </a>
          )}
        </nav>
      </>,
    )
  })
}
