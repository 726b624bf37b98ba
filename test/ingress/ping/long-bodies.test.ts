import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'ava'
import { createApp } from '../../../ingress/app.ts'
import { createPingHandler } from '../../../ingress/ping/handler.ts'
import { createLongBodies } from '../../../ingress/ping/read-body.ts'
import { openPingPath } from '../../../ingress/ping-path/open-ping-path.ts'
import { openHttpServer } from '../../../ingress/server.ts'
import { eventually } from '../../support/eventually.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

test('slow long ping bodies end with 503 when newer ones need the memory', async (t) => {
  const app = await sharedProduct()
  await using own = new AsyncDisposableStack()
  const deps = { ...app.deps, config: { ...app.deps.config, pingBodyLimit: 40_000 } }
  const path = own.use(openPingPath(app.deps, 'http'))
  const missed: number[] = []
  const refusals = {
    count: (checkId: number) => void missed.push(checkId),
    countUnresolved: () => t.fail('the check of each ping is known'),
  }
  const handler = createPingHandler(deps, { ...path, proof: { refusals } }, createLongBodies(50_000))
  const server = own.use(
    await openHttpServer({ port: 0, host: '127.0.0.1' }, { ping: handler.handle, app: createApp(app.deps) }),
  )
  const [slow, quick] = [await addProject(app.deps), await addProject(app.deps)]
  const slowCheck = await addCheck(app.deps, slow.project.id)
  const quickCheck = await addCheck(app.deps, quick.project.id)
  const sockets = await Promise.all(
    [1, 2].map(async () => {
      const socket = connect(server.port, '127.0.0.1')
      own.defer(() => void socket.destroy())
      await once(socket, 'connect')
      const answer = new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(chunk.toString('latin1'))))
      socket.write(
        `POST /ping/${slowCheck.uuid} HTTP/1.1\r\nHost: a\r\nContent-Length: 36000\r\n\r\n${'x'.repeat(32_000)}`,
      )
      return { answer }
    }),
  )
  const url = `http://127.0.0.1:${server.port}`
  const statuses: number[] = []
  const ping = async (body: string) => {
    const { status } = await send(url, `/ping/${quickCheck.uuid}`, { method: 'POST', body })
    statuses.push(status)
  }
  await eventually('both slow bodies to be abandoned', async () => {
    await Promise.all([ping('y'.repeat(20_000)), ping('short')])
    return missed.length === 2
  })
  for (const { answer } of sockets) t.regex(await answer, /^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 1\r\n/)
  t.deepEqual(missed, [slowCheck.id, slowCheck.id])
  t.deepEqual([...new Set(statuses)], [200])
  t.is(Number((await app.db('checks').where({ id: slowCheck.id }).first('n_pings'))?.n_pings), 0)
})
