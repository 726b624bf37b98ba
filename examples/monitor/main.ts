import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { LOG_KEY, parseVerifierKey } from '#shared/transparency/anchoring/note-key.ts'
import { flatPolicy, parsePolicy, type TrustPolicy } from '#shared/transparency/anchoring/policy.ts'
import { AlarmError, followLog } from './follow.ts'
import { LogSource, UnreachableError } from './source.ts'
import { loadState, saveState } from './state.ts'

const HELP = `Follows a transparency log: reads every entry, recomputes the tree, compares it with what the log signs.

  node --import tsx examples/monitor/main.ts --base URL --env sandbox|production --state FILE (--key VKEY | --policy FILE)

  --base URL       where the service is; the log is read below {base}/v1/transparency/{env}/
  --state FILE     how far the log was followed; made when absent
  --key VKEY       the log's key;  --policy FILE a tlog-policy with logs and the quorum of witnesses instead
  --once           follow to the newest checkpoint and end
  --interval N     seconds between looks, default 10

Exit status: 0 consistent (--once) or stopped, 1 ALARM: the log contradicts itself (the notes that prove it are
printed; the state stays), 2 usage or damaged state, 3 the log could not be read (--once).
`

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      base: { type: 'string' },
      env: { type: 'string' },
      state: { type: 'string' },
      key: { type: 'string' },
      policy: { type: 'string' },
      once: { type: 'boolean', default: false },
      interval: { type: 'string', default: '10' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const { base, env, state: file, once, interval, help } = values
  if (help) {
    console.log(HELP)
    return 0
  }
  const policy = readPolicy(values.key, values.policy)
  const pauseMs = Number(interval) * 1000
  if (!base || !env || !file || !policy || !(pauseMs > 0))
    throw new Error(`--base, --env, --state and one of --key and --policy are needed\n\n${HELP}`)
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const source = new LogSource(base, env)
  let state = loadState(file)
  while (!stop.signal.aborted) {
    try {
      const before = state.frontier.size
      state = await followLog(source, policy, state)
      saveState(file, state)
      console.log(`consistent at ${state.frontier.size} entries, ${state.frontier.size - before} new`)
      if (once) return 0
    } catch (error) {
      if (error instanceof AlarmError) {
        console.error(`ALARM: ${error.message}\n\n${error.evidence.join('\n')}`)
        return 1
      }
      if (!(error instanceof UnreachableError)) throw error
      console.error(`unreachable: ${error.message}`)
      if (once) return 3
    }
    await wait(pauseMs, undefined, { signal: stop.signal }).catch(() => undefined)
  }
  return 0
}

function readPolicy(key: string | undefined, file: string | undefined): TrustPolicy | undefined {
  if (file !== undefined) return parsePolicy(readFileSync(file, 'utf8'))
  if (key === undefined) return undefined
  const logKey = parseVerifierKey(key)
  if (logKey.type !== LOG_KEY) throw new Error(`${logKey.name} is not a log key`)
  return flatPolicy([{ key: logKey }], [], 0)
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
