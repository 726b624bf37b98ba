import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LoadResult } from './load.ts'

/** Load options of wrk, an HTTP load generator in C, which leaves the processors to the measured processes. */
export interface WrkLoad {
  port: number
  connections: number
  seconds: number
  paths: readonly string[]
  reconnect: boolean
}

/** Debian: `apt-get install wrk`. */
export async function hasWrk(): Promise<boolean> {
  return await new Promise((resolve) => {
    const child = spawn('wrk', ['--version'], { stdio: 'ignore' })
    child.once('error', () => resolve(false))
    child.once('exit', () => resolve(true))
  })
}

/** @throws Error with the output of wrk */
export async function runWrk(load: WrkLoad): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'))
  try {
    const script = join(folder, 'paths.lua')
    writeFileSync(script, scriptOf(load.paths))
    const threads = String(Math.min(load.connections, availableParallelism()))
    const sizes = ['-t', threads, '-c', String(load.connections), '-d', `${load.seconds}s`]
    const headers = load.reconnect ? ['-H', 'Connection: close'] : []
    return parse(await output([...sizes, '--latency', ...headers, '-s', script, `http://127.0.0.1:${load.port}/`]))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Every thread starts at another path, so that they do not use the same paths at the same time. */
function scriptOf(paths: readonly string[]): string {
  return `local paths = {${paths.map((path) => JSON.stringify(path)).join(',')}}
local at = 0
local threads = 0
function setup(thread) thread:set('begin', threads * 7919) threads = threads + 1 end
function init() at = begin % #paths end
function request() at = at % #paths + 1 return wrk.format('GET', paths[at]) end
`
}

async function output(args: readonly string[]): Promise<string> {
  const child = spawn('wrk', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) throw new Error(`wrk failed: ${text}`)
  return text
}

function parse(text: string): LoadResult {
  const number = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0)
  const answered = number(/(\d+) requests in/)
  const seconds = milliseconds(/requests in ([\d.]+\w+)/.exec(text)?.[1]) / 1000
  const refused = number(/Non-2xx or 3xx responses: (\d+)/)
  const broken = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text)
  return {
    answered,
    refused,
    broken: (broken ?? []).slice(1).reduce((sum, count) => sum + Number(count), 0),
    perSecond: (answered - refused) / seconds,
    p50Ms: milliseconds(/50%\s+([\d.]+\w+)/.exec(text)?.[1]),
    p99Ms: milliseconds(/99%\s+([\d.]+\w+)/.exec(text)?.[1]),
    seconds,
  }
}

/** Parses a time of wrk: `950.00us`, `1.23ms`, `4.01s`, `1.02m`. */
function milliseconds(text = ''): number {
  const [, value, unit = ''] = /^([\d.]+)(us|ms|s|m)$/.exec(text) ?? []
  return Number(value) * ({ us: 0.001, ms: 1, s: 1000, m: 60_000 }[unit] ?? Number.NaN)
}
