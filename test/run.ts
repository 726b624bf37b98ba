import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { countTests } from './support/count-tests.ts'
import { reaches, root, sourcesBelow } from './support/imports.ts'
import { prepareRun } from './support/prepare-run.ts'

// usage: npm test -- [--unit] [files or AVA options]

const given = process.argv.slice(2).filter((arg) => arg !== '--unit')
const isUnit = process.argv.includes('--unit')
const needServices = ['test/support/services.ts', 'test/support/own-servers.ts']
const all = sourcesBelow('test').filter((file) => /\.test\.tsx?$/.test(file))
const withServices = all.filter((file) => reaches(file, needServices))

const files = isUnit ? all.filter((file) => !withServices.includes(file)) : []
const named = withServices.filter((file) => given.some((arg) => file.includes(arg.replace(/^\.\//, ''))))
const vhosts = Math.min(given.length > 0 ? named.length : withServices.length, 64)

const { exitCode, report } = isUnit ? await runAva([...given, ...files], {}) : await runWithServices()
const { passed, failed } = countTests(report, exitCode)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

async function runWithServices(): Promise<{ exitCode: number; report: string }> {
  await using run = await prepareRun(vhosts, (line) => console.log(line))
  return await runAva(given, run.environment)
}

/** Runs AVA to its end, showing its report as it comes. On a signal AVA is told to end, so that we can clean up. */
async function runAva(
  args: readonly string[],
  environment: Record<string, string>,
): Promise<{ exitCode: number; report: string }> {
  // Tests mostly wait for servers, which need the cores too.
  const concurrency = Math.max(2, availableParallelism())
  const ava = join(root, 'node_modules/ava/entrypoints/cli.js')
  const child = spawn(process.execPath, [ava, '--concurrency', String(concurrency), ...args], {
    cwd: root,
    env: { ...process.env, ...environment, ...(process.stdout.isTTY && { FORCE_COLOR: '1' }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const pass = (signal: NodeJS.Signals) => child.kill(signal)
  process.on('SIGINT', pass).on('SIGTERM', pass)
  let report = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    report += text
    process.stdout.write(text)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    report += text
    process.stderr.write(text)
  })
  const exitCode = await new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)))
  if (!report.endsWith('\n')) process.stdout.write('\n')
  return { exitCode, report }
}
