import { addWebhook, notify } from '../../support/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { send } from '../../support/send.ts'

/** Creates a project with checks that notify one webhook, and returns functions that use the API. */
export async function withChecks(product: HttpProduct, sink: { url: string }, names: readonly string[]) {
  const { db, deps, url } = product
  const { project, rwKey } = await addProject(deps)
  const checks = await Promise.all(names.map((name) => addCheck(deps, project.id, { name, tags: name })))
  await notify(db, checks, [await addWebhook(deps, project.id, sink.url)])
  const post = async (path: string, body: object, method = 'POST') => {
    const headers = { 'X-Api-Key': rwKey }
    return await send(url, `/api/v3${path}`, {
      method,
      headers,
      ...(method === 'POST' && { body: JSON.stringify(body) }),
    })
  }
  const ping = async (check: { uuid: string } | undefined, end = '') => {
    await eventually(
      'a ping to be accepted',
      async () => (await fetch(`${url}/ping/${check?.uuid}${end}`)).status === 200,
    )
  }
  return { checks, post, ping, rwKey }
}

/** Returns status and uuid of each request to the webhook. */
export const notifiedOf = (sink: { requests: readonly { url: string; body: Buffer }[] }) =>
  sink.requests.map(({ url, body }) => `${url.slice(1)} ${body}`)
