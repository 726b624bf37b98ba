import test from 'ava'
import type { BadgeUrls } from '#shared/monitoring/badges/signature.ts'
import { saveStatusPage } from '#shared/monitoring/pages/status-page-store.ts'
import { currentTenant } from '#shared/platform/database/tenant.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

/** The tenant of each statement about checks and their data; null for all tenants. */
function watchReads() {
  const projects = new Set<number | null>()
  const note = ({ sql }: { sql: string }) => {
    if (/\bFROM (checks|flips|pings)\b/.test(sql)) projects.add(currentTenant()?.projectId ?? null)
  }
  app.deps.db.on('query', note)
  return {
    projects,
    [Symbol.dispose]: () => void app.deps.db.removeListener('query', note),
  }
}

test.serial('a badge of a project is read as its tenant, with the login that row security binds', async (t) => {
  const { project, rwKey } = await addProject(app.deps)
  await addCheck(app.deps, project.id, { tags: 'a' })
  await addCheck(app.deps, (await addProject(app.deps)).project.id, { tags: 'a' })
  const listed = await send(app.url, '/api/v3/badges/', { headers: { 'X-Api-Key': rwKey } })
  const { badges } = jsonOf(listed) as { badges: Record<string, BadgeUrls> }
  using reads = watchReads()
  const badge = await send(app.url, String(badges.a?.json).slice(app.url.length))
  t.like(jsonOf(badge), { total: 1 })
  t.deepEqual([...reads.projects], [project.id])
})

test.serial('a public status page is read as its tenant, with the login that row security binds', async (t) => {
  const { project } = await addProject(app.deps)
  await addCheck(app.deps, project.id, { name: 'shown to all' })
  await addCheck(app.deps, (await addProject(app.deps)).project.id, { name: 'of another project' })
  const token = 'abcdefghijklmnopqrstuv'
  await saveStatusPage(app.deps.db, {
    projectId: project.id,
    token,
    title: 'Ours',
    tags: '',
    intro: '',
    isGrouped: false,
    showsProgress: false,
  })
  using reads = watchReads()
  const page = await send(app.url, `/status/${token}`)
  t.is(page.status, 200)
  t.regex(page.text, /shown to all/)
  t.notRegex(page.text, /of another project/)
  t.deepEqual([...reads.projects], [project.id])
})
