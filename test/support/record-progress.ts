import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { awaitedFacts } from './eventually.ts'
import { root } from './imports.ts'
import { type ProgressEvent, writeEvent } from './progress-record.ts'

// AVA loads this module in every test process before the test file (`require` in ava.config.js). It writes the file's
// progress to the folder that the run names, so that the run can say where a test hangs, even one that never yields.

/** How often a process looks whether it still gets on. */
const LOOK_MS = 1_000

const folder = process.env.TEST_PROGRESS
if (folder) recordProgress(folder, Number(process.env.TEST_STALL_MS ?? 50_000))

/** @param stallMs time without progress after which the process describes where it stands */
function recordProgress(folder: string, stallMs: number): void {
  let progressAt = Date.now()
  const self = { pid: process.pid, since: progressAt }
  const record = (event: WithoutTime<ProgressEvent>) => {
    progressAt = Date.now()
    writeEvent(folder, self, { at: progressAt, ...event })
  }

  record({ event: 'file', file: relative(root, fileURLToPath(test.meta.file)) })
  test.beforeEach((t) => record({ event: 'start', title: titleOf(t.title) }))
  test.afterEach.always((t) => record({ event: 'end', title: titleOf(t.title), passed: t.passed }))

  let describedAt = 0
  const look = setInterval(() => {
    if (Date.now() - progressAt < stallMs || describedAt === progressAt) return
    describedAt = progressAt
    const event = { event: 'stalled', awaited: awaitedFacts(), resources: activeResources() } as const
    writeEvent(folder, self, { at: Date.now(), ...event })
  }, LOOK_MS)
  look.unref()
  process.once('exit', () => record({ event: 'exit', cpuSeconds: cpuSeconds() }))
}

/** Omit that keeps a union a union. */
type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'at'> : never

/** AVA names a hook's run after the test that it is for. */
function titleOf(hookTitle: string): string {
  return hookTitle.replace(/^.*?hook for /, '')
}

function activeResources(): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** CPU time of this process and, on Linux, of the processes that it started and that have ended. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  const own = (user + system) / 1e6
  if (process.platform !== 'linux') return own
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  const ticksPerSecond = 100
  return own + (Number(fields[13]) + Number(fields[14])) / ticksPerSecond
}
