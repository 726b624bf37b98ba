import { readFileSync, statSync } from 'node:fs'
import { type JsonObject, type JsonValue, parseJsonBytes } from '../../canonical/parse-json.ts'
import { CodedError } from '../../errors.ts'
import { CommandLineError, parseOptions } from '../../platform/process/command-line.ts'
import { parseVerifierKey } from './note-key.ts'
import { flatPolicy, parsePolicy, type TrustPolicy } from './policy.ts'
import { type ProofBundle, parseProofBundle } from './proof-bundle.ts'
import { isTlogProof } from './tlog-proof.ts'
import { type Verification, verifyAnchored } from './verify.ts'

const HELP = `Verifies an anchored object (a risk-signals pack, a webhook payload, ...) without server or network.

  npm run -s verify -- FILE [--proof FILE] [--key VKEY]... [--witness VKEY]... [--quorum N] [--policy FILE] [--json]

  FILE           the object as it was received (JSON with an "anchor" member), or {"object": ..., "proof": ...}
                 where "proof" is the answer of GET /v1/anchors/{txId} or a tlog-proof text; the members of that
                 answer may also stand beside "object". Put nothing else into a bare object: it would change its hash.
  --proof FILE   the answer of GET /v1/anchors/{txId} (JSON), or a c2sp.org/tlog-proof@v1 text
  --key VKEY     a log key to trust (GET /v1/transparency/{env}/log-key), got by another way than the proof
  --witness VKEY a witness key to trust; with --quorum N (default: all given) that many must have cosigned
  --policy FILE  a tlog-policy file instead of --key, --witness and --quorum
  --json         the verdict as JSON

Verdicts: VERIFIED (hash, txId, inclusion and log signature, and the quorum if one was asked for), FAILED (something
contradicts), PARTIAL (nothing contradicts, but something remains unproven; the lines say what).
Exit status: 0 VERIFIED, or PARTIAL when no key or policy to trust was given (then no more can be shown);
1 FAILED; 2 usage or unreadable input; 3 PARTIAL although a key or policy was given.
`
const MAX_FILE_BYTES = 16 * 1024 * 1024

process.exitCode = main()

function main(): number {
  try {
    const { values, positionals } = parseOptions({
      allowPositionals: true,
      options: {
        proof: { type: 'string' },
        key: { type: 'string', multiple: true },
        witness: { type: 'string', multiple: true },
        quorum: { type: 'string' },
        policy: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    const [file, ...rest] = positionals
    if (values.help) {
      console.log(HELP)
      return 0
    }
    if (file === undefined || rest.length > 0) throw new CommandLineError('expected one FILE; --help lists the options')
    const { object, proof } = readObject(file)
    const policy = readPolicy(values)
    const verdict = verifyAnchored(object, values.proof === undefined ? proof : readProof(values.proof), policy)
    console.log(values.json ? JSON.stringify(verdict, null, 2) : describe(verdict))
    return exitStatus(verdict, policy)
  } catch (error) {
    const isUsage = error instanceof CommandLineError
    console.error(
      error instanceof CodedError ? `${error.code}: ${error.message}` : isUsage ? error.message : String(error),
    )
    return 2
  }
}

function exitStatus({ verdict }: Verification, policy: TrustPolicy | undefined): number {
  if (verdict === 'FAILED') return 1
  return verdict === 'PARTIAL' && policy !== undefined ? 3 : 0
}

function describe({ verdict, payloadSha256, txId, checks }: Verification): string {
  const marks = { passed: 'ok  ', failed: 'FAIL', open: '?   ' } as const
  const lines = checks.map(
    ({ name, result, code, detail }) => `${marks[result]} ${name.padEnd(10)} ${code ? `${code}: ` : ''}${detail}`,
  )
  return [verdict, `payloadSha256 ${payloadSha256 ?? '-'}`, `txId          ${txId ?? '-'}`, ...lines].join('\n')
}

/** A bare object, or a bundle: an anchor block is never called `object`, so the two cannot be confused. */
function readObject(file: string): { object: JsonObject; proof?: ProofBundle } {
  const value = asObject(readJson(file), file)
  const { object } = value
  if (value.anchor !== undefined || object === undefined) return { object: value }
  const beside = value.proof !== null && typeof value.proof === 'object' && !Array.isArray(value.proof)
  const proof = beside || typeof value.proof === 'string' ? value.proof : value
  return { object: asObject(object, file), proof: parseProofBundle(proof ?? value) }
}

function readProof(file: string): ProofBundle {
  const bytes = readBounded(file)
  const text = bytes.toString()
  return parseProofBundle(isTlogProof(text) ? text : parseJsonBytes(bytes, { allowNul: true }))
}

function readPolicy(values: {
  key?: string[]
  witness?: string[]
  quorum?: string
  policy?: string
}): TrustPolicy | undefined {
  if (values.policy !== undefined) {
    if (values.key || values.witness || values.quorum) throw new Error('--policy stands alone')
    return parsePolicy(readBounded(values.policy).toString())
  }
  if (values.key === undefined) return undefined
  const witnesses = (values.witness ?? []).map((text) => ({ key: parseVerifierKey(text) }))
  const threshold = values.quorum === undefined ? witnesses.length : Number(values.quorum)
  return flatPolicy(
    values.key.map((text) => ({ key: parseVerifierKey(text) })),
    witnesses,
    threshold,
  )
}

function readJson(file: string): JsonValue {
  return parseJsonBytes(readBounded(file), { allowNul: true })
}

function readBounded(file: string): Buffer {
  if (statSync(file).size > MAX_FILE_BYTES) throw new Error(`${file} is larger than ${MAX_FILE_BYTES} bytes`)
  return readFileSync(file)
}

function asObject(value: JsonValue, file: string): JsonObject {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Error(`${file} holds no JSON object`)
  return value
}
