import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import {
  formatVerifierKey,
  LOG_KEY,
  type NoteKey,
  parseVerifierKey,
  signerFromSeed,
  WITNESS_KEY,
} from '#shared/transparency/anchoring/note-key.ts'
import { parseBase64Hash } from '#shared/transparency/anchoring/text.ts'
import { createWitness } from './server.ts'
import { WitnessState } from './state.ts'

const HELP = `A transparency-log witness (C2SP tlog-witness): cosigns checkpoints that extend what it cosigned before.

  node --import tsx examples/witness/main.ts --name NAME --key-file FILE --state FILE --log VKEY [options]

  --name NAME      the witness's key name, such as witness.example.org/w1
  --key-file FILE  base64 of the 32-byte Ed25519 seed; made with --init when absent
  --state FILE     what it cosigned last; one process per file
  --log VKEY       a log to follow (repeat for more)
  --port N         default 8090, 0 for any free one    --host H  default 127.0.0.1
  --init           make the state file (and key); without it an absent state file is an error, since a witness
                   that forgot what it signed would sign a rolled-back log
Prints its verifier key, then "listening on URL".
`

function main(): void {
  const { values } = parseArgs({
    options: {
      name: { type: 'string' },
      'key-file': { type: 'string' },
      state: { type: 'string' },
      log: { type: 'string', multiple: true },
      port: { type: 'string', default: '8090' },
      host: { type: 'string', default: '127.0.0.1' },
      init: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const { name, 'key-file': keyFile, state: stateFile, log: logs, port, host, init, help } = values
  if (help) {
    console.log(HELP)
    return
  }
  if (!name || !keyFile || !stateFile || !logs)
    throw new Error(`--name, --key-file, --state and --log are needed\n\n${HELP}`)
  const signer = signerFromSeed(name, WITNESS_KEY, readSeed(keyFile, init))
  const state = init ? WitnessState.create(stateFile) : WitnessState.load(stateFile)
  const server = createWitness({
    signer,
    logKeys: logs.map(parseLogKey),
    state,
    now: () => Math.floor(Date.now() / 1000),
    log: (line) => console.log(line),
  })
  server.listen(Number(port), host, () => {
    const address = server.address()
    console.log(formatVerifierKey(signer.key))
    console.log(`listening on http://${host}:${address !== null && typeof address === 'object' ? address.port : port}`)
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      server.close()
      server.closeIdleConnections()
    })
}

function parseLogKey(text: string): NoteKey {
  const key = parseVerifierKey(text)
  if (key.type !== LOG_KEY) throw new Error(`${key.name} is not a log key`)
  return key
}

function readSeed(file: string, init: boolean): Uint8Array {
  if (init && !existsSync(file)) writeFileSync(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 })
  const seed = parseBase64Hash(readFileSync(file, 'utf8').trim())
  if (seed === undefined) throw new Error(`${file} does not hold 32 bytes in base64`)
  return seed
}

try {
  main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
