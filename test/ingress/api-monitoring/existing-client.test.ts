import { createRequire } from 'node:module'
import test from 'ava'
import type { HttpProduct } from '../../support/product.ts'
import { addIntegration, addProject } from '../../support/projects.ts'
import { sharedProduct } from '../../support/shared-product.ts'

// A client that was written for the existing service, as its authors published it.
const { HealthChecksApiClient, HealthChecksPingClient } = createRequire(import.meta.url)('healthchecks-io-client')

/** Its own five seconds are too few for a busy machine. */
const PATIENT = { timeout: 60_000, maxContentLength: 1e6 }

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

for (const apiVersion of [1, 2, 3]) {
  test(`an existing client performs each of its calls, version ${apiVersion}`, async (t) => {
    const { project, rwKey } = await addProject(app.deps)
    const integration = await addIntegration(app.deps, project.id, 'ops')
    const client = new HealthChecksApiClient({ apiKey: rwKey, baseUrl: app.url, apiVersion, ...PATIENT })

    const created = await client.createCheck({
      name: 'Nightly',
      tags: 'prod db',
      timeout: 3600,
      grace: 60,
      channels: '*',
    })
    t.like(created, { name: 'Nightly', status: 'new', channels: integration.uuid, timeout: 3600 })
    const uuid = created.ping_url.split('/').at(-1)

    const pings = new HealthChecksPingClient({ uuid, baseUrl: `${app.url}/ping`, ...PATIENT })
    await pings.start()
    await pings.success()
    await pings.fail()
    t.like(await client.getCheck(uuid), { n_pings: 3, status: 'down' })
    t.deepEqual((await client.getChecks(['prod'])).checks.length, 1)
    t.deepEqual((await client.getChecks(['other'])).checks, [])
    t.like(await client.updateCheck(uuid, { name: 'Nightly export', desc: 'moved' }), { name: 'Nightly export' })

    const { pings: listed } = await client.listPings(uuid)
    t.deepEqual(
      listed.map(({ type }: { type: string }) => type),
      ['fail', 'success', 'start'],
    )
    const flips = await client.listFlips(uuid)
    t.deepEqual(
      flips.map(({ up }: { up: number }) => up),
      [0, 1],
    )
    t.like(await client.pauseCheck(uuid), { status: 'paused' })
    t.deepEqual(await client.getIntegrations(), { channels: [{ id: integration.uuid, name: 'ops', kind: 'email' }] })
    t.like(await client.deleteCheck(uuid), { name: 'Nightly export' })
    await t.throwsAsync(client.getCheck(uuid), { message: /404/ })
  })
}
