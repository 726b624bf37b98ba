import type { HttpProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { type Answer, jsonOf, send } from '../../support/send.ts'

export type View = Record<string, unknown> & { uuid: string }

/** A project, and its API as its owner uses it. */
export async function aProject(app: HttpProduct) {
  const owner = await addProject(app.deps)
  const headers = { 'X-Api-Key': owner.rwKey }
  const viewOf = (answer: Answer) => jsonOf(answer) as View
  const post = (path: string, body: object = {}, version = 3) =>
    send(app.url, `/api/v${version}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return {
    ...owner,
    post,
    viewOf,
    create: async (body: object = {}, version = 3) => viewOf(await post('/checks/', body, version)),
    get: async (uuid: string, version = 3) =>
      viewOf(await send(app.url, `/api/v${version}/checks/${uuid}`, { headers })),
    remove: (uuid: string) => send(app.url, `/api/v3/checks/${uuid}`, { method: 'DELETE', headers }),
    list: async (query = '') => {
      const answer = await send(app.url, `/api/v3/checks/${query}`, { headers })
      return (jsonOf(answer) as { checks: View[] }).checks
    },
    ping: (uuid: string, action = '') => send(app.url, `/ping/${uuid}${action}`),
  }
}
