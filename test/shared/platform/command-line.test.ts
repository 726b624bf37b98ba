import { spawnSync } from 'node:child_process'
import test from 'ava'
import { compileCache, readTypescript } from '../../support/typescript-process.ts'

const root = new URL('../../..', import.meta.url).pathname

for (const [file, args, expected] of [
  [
    'bench/main.ts',
    ['nosuch'],
    /no suite nosuch; there are pings, storage, deliveries, pages, paint, tenants, packs, families, imports, log, sweep, alerts, alerting, traces, footprint, memory/,
  ],
  ['stack/main.ts', ['nosuch'], /no command nosuch; there are up, demo, try, down, status/],
  ['stack/main.ts', ['up', '--fast'], /'--fast'/],
  ['workers/main.ts', ['nosuch'], /no worker nosuch; there are .*ping-evaluator/],
  ['shared/transparency/anchoring/verify-cli.ts', ['--fast'], /'--fast'; the options are --proof, --key/],
] as const) {
  test(`${[file, ...args].join(' ')} is a mistake: one line that lists the options, exit status 2`, (t) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [readTypescript, file, ...args], {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, LOCAL_ENV_FILE: '', ...compileCache() },
    })
    t.deepEqual([status, stdout, stderr.trim().split('\n').length], [2, '', 1], stderr)
    t.regex(stderr.trim(), expected)
  })
}
