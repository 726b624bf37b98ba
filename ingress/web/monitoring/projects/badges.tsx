import { badgeUrls } from '#shared/monitoring/badges/signature.ts'
import { listTags } from '#shared/monitoring/badges/store.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import type { Pages } from '../../shell/context.ts'
import { sendPage } from '../../shell/layout.tsx'
import { requireProject } from '../../shell/workspace.ts'
import { BadgeForms, BadgeImage } from '../badge-forms.tsx'

/** Limits the page, because the browser requests an image of each badge. */
const PER_PAGE = 50

export function badgePages(pages: Pages): void {
  pages.get('/projects/:project/badges', async (context) => {
    const workspace = await requireProject(context, 'view')
    const { project } = workspace
    const { deps } = context
    const used = (await listTags(deps.db, project.id)).flatMap(splitTags)
    const all = ['*', ...[...new Set(used)].toSorted()]
    const lastPage = Math.ceil(all.length / PER_PAGE)
    const page = Math.min(lastPage, Math.max(1, Math.trunc(Number(context.query.get('page'))) || 1))
    const tags = all.slice((page - 1) * PER_PAGE, page * PER_PAGE)
    sendPage(
      context,
      { title: `Badges · ${project.name}`, workspace, project, area: 'badges' },
      <>
        <h1>Badges</h1>
        <p class="muted">
          Status badges for readmes and dashboards. Anyone with the URL of a badge can see its state, and nothing else.
        </p>
        <section class="card table-card">
          {tags.map((tag) => {
            const urls = badgeUrls(deps.config.publicUrl, deps.badges.secret, project.badgeKey, tag)
            const name = tag === '*' ? project.name : tag
            return (
              <div class="badge-row" key={tag}>
                <h2 class="row">
                  {tag === '*' ? 'All checks' : tag} <BadgeImage urls={urls} name={name} />
                </h2>
                <BadgeForms urls={urls} name={name} />
              </div>
            )
          })}
        </section>
        {lastPage > 1 && (
          <nav class="pager" aria-label="Pages">
            <span class="muted">
              Page {page} of {lastPage}
            </span>
            {page > 1 && (
              <a href={`?page=${page - 1}`} rel="prev">
                Previous page
              </a>
            )}
            {page < lastPage && (
              <a href={`?page=${page + 1}`} rel="next">
                Next page
              </a>
            )}
          </nav>
        )}
      </>,
    )
  })
}
