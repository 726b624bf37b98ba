import { listTags } from '#shared/badges/store.ts'
import { badgeUrls } from '#shared/badges/urls.ts'
import { splitTags } from '#shared/checks/tags.ts'
import { badgeSecret } from '../../monitoring/badge-images.ts'
import { Copyable } from '../components/form.tsx'
import type { Pages } from '../context.ts'
import { sendPage } from '../layout.tsx'
import { openProject } from '../workspace.ts'

/** The public badges of a project: how they look now, and lines to paste. */
export function badgePages(pages: Pages): void {
  pages.get('/projects/:project/badges', async (context) => {
    const workspace = await openProject(context, 'view')
    const { project } = workspace
    const { deps } = context
    const used = (await listTags(deps.db, project.id)).flatMap(splitTags)
    const tags = ['*', ...[...new Set(used)].toSorted()]
    sendPage(
      context,
      { title: `Badges · ${project.name}`, workspace, project, area: 'badges' },
      <>
        <h1>Badges</h1>
        <p class="muted">
          Pictures of how checks stand, for readmes and dashboards. Whoever has an address can see that state, and
          nothing else.
        </p>
        <section class="card table-card">
          {tags.map((tag) => {
            const urls = badgeUrls(deps.config.publicUrl, badgeSecret(deps), project.badgeKey, tag)
            const name = tag === '*' ? project.name : tag
            // Shown by its path: the public address may not be the one this browser uses.
            const shown = new URL(urls.svg3).pathname
            return (
              <div class="badge-row" key={tag}>
                <h2>
                  {tag === '*' ? 'All checks' : tag} <img src={shown} alt={`Badge of ${name}`} height="20" />
                </h2>
                <Copyable text={`![${name}](${urls.svg3})`} label={`Markdown of ${name}`} />
                <Copyable text={urls.svg} label={`address with two states of ${name}`} />
                <Copyable text={urls.json3} label={`JSON address of ${name}`} />
                <Copyable text={urls.shields3} label={`Shields address of ${name}`} />
              </div>
            )
          })}
        </section>
      </>,
    )
  })
}
