import { badgeUrls } from '#shared/monitoring/badges/signature.ts'
import { listTags } from '#shared/monitoring/badges/store.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { Copyable } from '../../shell/basics.tsx'
import type { Pages } from '../../shell/context.ts'
import { sendPage } from '../../shell/layout.tsx'
import { requireProject } from '../../shell/workspace.ts'

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
            // Uses the path, because the public host may differ from the one of this browser.
            const shown = new URL(urls.svg3).pathname
            return (
              <div class="badge-row" key={tag}>
                <h2 class="row">
                  {tag === '*' ? 'All checks' : tag} <img src={shown} alt={`Badge of ${name}`} height="20" />
                </h2>
                <Line label="Markdown" text={`![${name}](${urls.svg3})`} name={name} />
                <details class="more">
                  <summary>Other forms</summary>
                  <div class="badge-forms">
                    <Line label="Picture, up or down" text={urls.svg} name={name} />
                    <Line label="Picture with late" text={urls.svg3} name={name} />
                    <Line label="JSON" text={urls.json3} name={name} />
                    <Line label="Shields.io" text={urls.shields3} name={name} />
                  </div>
                </details>
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

function Line({ label, text, name }: { label: string; text: string; name: string }) {
  return (
    <div class="badge-line">
      <small>{label}</small>
      <Copyable text={text} label={`${label} of ${name}`} />
    </div>
  )
}
