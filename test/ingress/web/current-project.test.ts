import test from 'ava'
import { insertProject } from '#shared/monitoring/projects/store.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, join } from './people.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})
const asPage = { accept: 'text/html,application/xhtml+xml' }

test('pages without a project show the project that was opened last', async (t) => {
  const team = await createTeam(app, 'Several')
  const other = await insertProject(app.deps.db, { organisationId: team.organisationId, name: 'Other project' })
  const owner = await join(app, team, 'owner')
  const organisation = `/organisations/${team.organisationUuid}`
  const shown = async (path: string, headers: Record<string, string> = asPage) =>
    /<span class="menu-label">([^<]+)/.exec((await owner.get(path, headers)).text)?.[1]

  t.is(await shown('/projects'), 'Choose a project')
  for (const { uuid, name } of [team.project, other, team.project]) {
    t.is(await shown(`/projects/${uuid}/checks`), name)
    for (const path of ['/projects', '/account', `${organisation}/members`, `${organisation}/audit`])
      t.is(await shown(path), name, path)
    t.is(await shown(`${organisation}/risk/sandbox/packs`), name)
  }
  await shown(`/projects/${other.uuid}/checks`, { accept: '*/*' })
  t.is(await shown('/account'), team.project.name, 'a script that reads a page in another tab changes nothing')
})
