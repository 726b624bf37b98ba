import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { createVhosts, vhostUrl } from '../../stack/broker-admin.ts'
import { rabbitBinaries, startLocalRabbit } from '../../stack/local-rabbit.ts'
import { brokerRefusal } from '../../stack/probe.ts'
import { identify } from '../../stack/process-identity.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { keepBroker } from '../support/keep-broker.ts'

test('a node that stops answering is started anew with its virtual hosts, and is gone after the run', async (t) => {
  t.timeout(230_000)
  const bin = await rabbitBinaries()
  if (!bin) throw new Error('this test needs RabbitMQ installed (Debian: rabbitmq-server)')
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-rabbitmq-'))
  const { url, pid, control } = await startLocalRabbit(bin, folder, await freePort())
  await createVhosts(control, url, ['of-a-run'])
  const said: string[] = []
  {
    const options = { folder, url, pid, vhosts: () => ['of-a-run'], report: (line: string) => said.push(line) }
    await using _kept = keepBroker({ ...options, everyMs: 100, handshakeMs: 3_000 })
    process.kill(pid, 'SIGSTOP') // connections are accepted by the kernel and never answered
    await eventually('the node to be started anew', () => said.includes('RabbitMQ answers again'), 150_000)
    t.is(await brokerRefusal(vhostUrl(url, 'of-a-run')), undefined)
    t.is(await identify(pid), undefined)
  }
  t.truthy(await brokerRefusal(url))
  rmSync(folder, { recursive: true, force: true })
})
