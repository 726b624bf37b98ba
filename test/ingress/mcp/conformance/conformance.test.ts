import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { root } from '../../../support/imports.ts'
import { ERAS } from '../agents.ts'
import { openConformanceServer } from './fixtures.ts'

const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

for (const era of ERAS) {
  test.serial(`the transport passes the conformance suite of ${era} except for unsupported features`, async (t) => {
    const expected = new URL(`expected-${era}.yaml`, import.meta.url).pathname
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-conformance-'))
    t.teardown(() => rm(folder, { recursive: true }))
    await using server = await openConformanceServer()
    const args = ['server', '--url', server.url, '--requirements', era, '--expected-failures', expected]
    const { code, out } = await run([suite, ...args, '--timeout', '20000'], folder)
    t.is(code, 0, out.slice(-4000))
    t.regex(out, /✓ tools-call-simple-text: \d+ passed, 0 failed/)
    t.regex(out, /✓ dns-rebinding-protection: \d+ passed, 0 failed/)
    t.true((readFileSync(expected, 'utf8').match(/^ {2}# .+\.$/gm) ?? []).length > 0)
  })
}

async function run(args: string[], cwd: string): Promise<{ code: number | null; out: string }> {
  const child = spawn(process.execPath, args, { cwd, timeout: 50_000 })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, out }
}
