import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Role } from '#shared/tenancy/accounts/roles.ts'
import { insertMembership, insertUser } from '#shared/tenancy/accounts/store.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { type Answer, jsonOf as anyJson, send } from '../../support/send.ts'

export const jsonOf = (answer: Answer) => z.record(z.string(), z.any()).parse(anyJson(answer))

/** Returns a project with members whose addresses begin with a name. */
export async function onCallTeam(app: HttpProduct, names: Readonly<Record<string, Role>>) {
  const { project, rwKey, roKey } = await addProject(app.deps)
  const tag = randomUUID().slice(0, 8)
  const address = (name: string) => `${name}-${tag}@example.org`
  const ids: Record<string, number> = {}
  for (const [name, role] of Object.entries(names)) {
    const user = await insertUser(app.db, { email: address(name), name, passwordHash: null })
    if (!user) throw new Error('the address is in use')
    await insertMembership(app.db, { organisationId: project.organisationId, userId: user.id, role })
    ids[name] = user.id
  }
  const api = (method: string, path: string, body?: unknown, key = rwKey) =>
    send(app.url, `/api/v3${path}`, {
      method,
      headers: { 'X-Api-Key': key },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const call: typeof api = (method, path, ...rest) => api(method, `/on-call${path}`, ...rest)
  const layer = (people: string[], more: object = {}) => ({
    people: people.map(address),
    start: '2026-01-05T09:00',
    rotation: { unit: 'week' },
    ...more,
  })
  return { project, rwKey, roKey, ids, address, api, call, layer }
}
