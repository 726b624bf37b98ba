import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { root } from '../support/imports.ts'

/** `make test` runs us: its options are not for a nested make. */
const { MAKEFLAGS: _flags, MFLAGS: _old, MAKELEVEL: _level, ...env } = process.env

function make(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('make', args, { cwd: root, env, encoding: 'utf8' })
  return { status, stdout, stderr }
}

/** The npm scripts that make would run. */
function scripts(...args: string[]): string[] {
  return make('-n', ...args).stdout.match(/^npm run .*\S/gm) ?? []
}

const handedOn = [
  ['bench', ['pings', '--quick']],
  ['bench', ['pings', 'sweep']],
  ['soak', ['--minutes', '10', '--seed', '7']],
  ['soak', ['--once', '--only', 'broker:,database:']],
] as const
for (const [target, args] of handedOn) {
  const line = `${target} -- ${args.join(' ')}`
  test(`make ${line} runs that and nothing else`, (t) =>
    t.deepEqual(scripts(target, '--', ...args), [`npm run -s ${line}`]))
}

test('an unknown benchmark is refused with one line that lists the known ones', (t) => {
  // Without its name every suite would run.
  t.deepEqual(scripts('bench', '--', 'nosuch'), ['npm run -s bench -- nosuch'])
  const { status, stderr } = make('bench', '--', 'nosuch')
  t.is(status, 2)
  const [, names = ''] = /^there is no suite nosuch; there are (.+)$/m.exec(stderr) ?? []
  t.true(names.includes('pings'))
})

test('a goal that does not exist is refused where nothing takes it as an argument', (t) => {
  t.is(make('-n', 'lint', 'nosuch').status, 2)
})

test('make help lists every described target below a heading', (t) => {
  const described = [...readFileSync(join(root, 'Makefile'), 'utf8').matchAll(/^([a-z0-9-]+):.*## /gm)]
  const { stdout } = make('help')
  const sections = stdout.trim().split('\n\n')
  t.true(sections.length >= 5)
  for (const section of sections) t.regex(section, /^[A-Z]/)
  const listed = sections.flatMap((section) => [...section.matchAll(/^ {2}make (\S+)/gm)].map(([, name]) => name))
  t.deepEqual(
    listed,
    described.map(([, name]) => name),
  )
})
