import test from 'ava'
import { openAnotherListener } from '../../ingress/ping/listeners.ts'
import { openProduct } from '../../support/product.ts'
import { jsonOf, send } from '../../support/send.ts'
import { aProject } from './project.ts'

test('five hundred concurrent pings through two listeners get consecutive numbers', async (t) => {
  await using app = await openProduct({ listener: 'http', env: { PING_LOG_LIMIT: '1000' } })
  await using resources = new AsyncDisposableStack()
  const listeners = [app.url, await openAnotherListener(resources, app)]
  const { check, call, rwKey } = await aProject(app)
  const uuid = await check([])
  const answers = await Promise.all(
    Array.from({ length: 500 }, (_, i) => send(listeners[i % 2] ?? '', `/ping/${uuid}${i % 5 === 0 ? '/log' : ''}`)),
  )
  t.true(answers.every(({ status, text }) => status === 200 && text === 'OK'))
  const listed = await send(app.url, `/api/v3/checks/${uuid}/pings/`, { headers: { 'X-Api-Key': rwKey } })
  t.deepEqual(
    (jsonOf(listed) as { pings: { n: number }[] }).pings.map(({ n }) => n),
    Array.from({ length: 500 }, (_, i) => 500 - i),
  )
  t.like(await call('GET', `/checks/${uuid}`), { n_pings: 500, status: 'up' })
})
