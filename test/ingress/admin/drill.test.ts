import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { commands } from '../../../ingress/admin/registry.ts'
import { runAdmin } from '../../../ingress/admin/run.ts'
import { openProduct } from '../../support/product.ts'

interface Finding {
  what: string
  ok: boolean
  text: string
}

test('the drill runs a separate check through all steps, and names a failed step', async (t) => {
  await using app = await openProduct({
    listener: 'http',
    workers: ['ping-evaluator', 'sweeper', 'notifier', 'anchor'],
    env: { CHECKPOINT_DIR: await mkdtemp(join(tmpdir(), 'checkpoints-')) },
  })
  const context = async () => ({
    config: app.deps.config,
    db: app.deps.db,
    secrets: app.deps.secrets,
    log: app.deps.log,
    actor: 'tester',
    async [Symbol.asyncDispose]() {},
  })
  const doctor = async (...args: string[]) => {
    const { stdout, stderr } = await runAdmin(['doctor', ...args, '--json'], commands, context)
    const { findings }: { findings: Finding[] } = JSON.parse(stdout || `{"findings":[{"what":"${stderr}"}]}`)
    return findings
  }
  const steps = (findings: readonly Finding[]) =>
    findings.filter(({ what }) => what.startsWith('drill')).map(({ what, ok }) => [what, ok])

  const found = await doctor('--drill')
  t.deepEqual(
    steps(found),
    ['integration', 'ping', 'read', 'overdue', 'notification'].map((step) => [`drill: ${step}`, true]),
    JSON.stringify(found),
  )
  const text = (wanted: string) => found.find(({ what }) => what === wanted)?.text ?? 'not looked at'
  t.regex(text('drill: overdue'), /^\d+\.\d s$/)
  t.is(text('CHECKPOINT_DIR'), 'holds marks of this database')
  t.regex(text('archive'), /archive_mode|ago|yet/)
  t.is((await app.db('checks').select('id')).length, 0, 'nothing of it stays')
  t.is((await app.db('projects').select('id')).length, 0)

  const [first, ...others] = steps(await doctor('--drill', '--url', 'http://127.0.0.1:1'))
  t.deepEqual(first, ['drill: integration', false])
  t.deepEqual(others, [])
  t.deepEqual(steps(await doctor()), [])
})
