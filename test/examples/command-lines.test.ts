import { execFile } from 'node:child_process'
import test from 'ava'
import { root } from '../support/imports.ts'

function run(file: string): Promise<{ code: number; stderr: string }> {
  const env = { PATH: process.env.PATH, NODE_ENV: 'test' }
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', file, '--nosuch'], { cwd: root, env }, (error, _, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stderr }),
    )
  })
}

for (const file of [
  'examples/agent/main.ts',
  'examples/blind-financing/main.ts',
  'examples/monitor/main.ts',
  'examples/wallet/main.ts',
  'examples/wallet/issuer.ts',
  'examples/witness/main.ts',
  'stack/main.ts',
  'test/soak/main.ts',
  'workers/main.ts',
])
  test(`${file} refuses an unknown option with status 2 and without a stack`, async (t) => {
    const { code, stderr } = await run(file)
    t.is(code, 2, stderr)
    t.regex(stderr, /--nosuch/)
    t.notRegex(stderr, /^ +at /m)
  })
