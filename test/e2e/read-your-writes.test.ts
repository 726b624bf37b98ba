import test from 'ava'
import { openProduct, waitForEveryBarrier } from '../support/product.ts'

const ROUNDS = 1_000

test('a read through one ingress always includes an earlier ping through another', async (t) => {
  await using product = await openProduct()
  const project = await product.project()
  await product.workers(['ping-evaluator'])
  const first = await product.ingress()
  const second = await product.ingress()
  for (const { deps } of [first, second]) waitForEveryBarrier(deps)
  const headers = { 'X-Api-Key': project.apiKey }
  const created = await fetch(`${first.base}/api/v3/checks/`, { method: 'POST', headers, body: '{"name":"busy"}' })
  const { uuid } = JSON.parse(await created.text())
  for (let round = 1; round <= ROUNDS; round++) {
    const fails = round % 3 === 0
    const answer = await fetch(`${first.base}/ping/${uuid}${fails ? '/fail' : ''}`)
    if ((await answer.text()) !== 'OK') t.fail(`ping ${round} was not accepted`)
    const read = await fetch(`${second.base}/api/v3/checks/${uuid}`, { headers })
    const check = JSON.parse(await read.text())
    const isRight = check.n_pings === round && check.status === (fails ? 'down' : 'up')
    if (!isRight) t.fail(`read ${round} showed ${check.n_pings} pings and ${check.status}`)
    if (read.headers.has('X-Signalbox-Lag')) t.fail(`read ${round} did not wait for its pings`)
  }
  t.pass()
})
