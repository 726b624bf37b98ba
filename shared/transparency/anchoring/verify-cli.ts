import { readFileSync, statSync } from 'node:fs'
import { type JsonObject, type JsonValue, parseJsonBytes } from '../../canonical/parse-json.ts'
import { CodedError } from '../../errors.ts'
import { CommandLineError, parseOptions } from '../../platform/process/command-line.ts'
import { isAbsence, verifyAbsence } from '../provenance/absence.ts'
import { isBundle, parseBundle, verifyBundle } from '../provenance/bundle.ts'
import { type EvidenceKey, parseEvidenceKeys } from '../provenance/dsse.ts'
import { isMembership, verifyMembership } from '../provenance/membership.ts'
import {
  isCredential,
  type PassportTrust,
  parsePassportIssuer,
  readPassport,
  verifyPassport,
} from '../provenance/passport.ts'
import { verifyBagitBundle } from '../provenance/verify-bundle.ts'
import { isZip } from '../provenance/zip.ts'
import { isUptimeProof, verifyUptime } from '../statements/verify-uptime.ts'
import { parseVerifierKey } from './note-key.ts'
import { flatPolicy, parsePolicy, type TrustPolicy } from './policy.ts'
import { type ProofBundle, parseProofBundle } from './proof-bundle.ts'
import { isTlogProof } from './tlog-proof.ts'
import { type Verification, verifyAnchored } from './verify.ts'
import { verifyBefore } from './verify-order.ts'
import { asRowBundle, verifyRow } from './verify-row.ts'

const HELP = `Verifies evidence (a risk-signals pack, a webhook payload, any anchored object; a provenance bundle or its bag)
without server or network.

  npm run -s verify -- FILE [--proof FILE] [--key VKEY]... [--witness VKEY]... [--quorum N] [--policy FILE]
                           [--evidence-keys FILE] [--issuer FILE [--status-list FILE]] [--before FILE] [--json]

  FILE           the object as it was received (JSON with an "anchor" member), or {"object": ..., "proof": ...}
                 where "proof" is the response of GET /v1/anchors/{txId} or a tlog-proof text; the members of that
                 response may also be siblings of "object". Add nothing to a bare object: it would change its hash.
                 A row of an import (GET .../rows/{n}/proof) is checked against the root of its record.
                 A receivable with its path (GET /v1/securitisation/cuts/{cutId}/proof) is checked against its cut.
                 A bundle (GET /v1/trade/packs/{packId}/bundle), its bag (/export, a ZIP) and the bag of a cut
                 (GET /v1/securitisation/pools/{poolId}/export) contain their proof.
                 The daily statements about a check (GET /api/v3/checks/{uuid}/uptime-proof) contains its proofs.
                 A proof of absence (POST /v1/first-financing/absence-proofs) is checked against its snapshot.
                 A passport is read as its object, as credential (SD-JWT VC), or as the response that contains both.
                 The PDF of a pack is verified by the page /verify; the pack that is attached to it, here.
                 - reads FILE, or the file of one option, from standard input.
  --before FILE  another object with its proof, as FILE: that FILE was logged before it, in the same log
  --proof FILE   the response of GET /v1/anchors/{txId} (JSON), or a c2sp.org/tlog-proof@v1 text
  --key VKEY     a trusted log key (GET /v1/transparency/{env}/log-key), from a source other than the proof
  --witness VKEY a trusted witness key; --quorum N (default: all witnesses) sets how many must have cosigned
  --policy FILE  a tlog-policy file instead of --key, --witness and --quorum
  --evidence-keys FILE  trusted evidence keys of bundles (GET /v1/transparency/{env}/evidence-keys), from a
                 source other than the bundle
  --issuer FILE  the trusted issuer of a passport (GET /.well-known/jwt-vc-issuer), from another source
  --status-list FILE  the status list at the statusList.uri of a passport, to verify that it is not revoked
  --json         the result as JSON

Results: VERIFIED (hash, txId, inclusion and log signature, the quorum if one was required, and the
signature of a bundle), FAILED (a step failed), PARTIAL (no step failed, but a step is open; the lines
name it). The line SANDBOX: NOT EVIDENCE follows if the log is that of a sandbox.
Exit status: 0 VERIFIED, or PARTIAL without a trusted key or policy (then no more can be verified);
1 FAILED; 2 usage or unreadable input; 3 PARTIAL with a trusted key or policy.
`
const MAX_FILE_BYTES = 16 * 1024 * 1024
const MAX_CREDENTIAL_BYTES = 64 * 1024
const MAX_BUNDLE_BYTES = 256 * 1024 * 1024
const STDIN = '-'
/** The signature of a log that is named as in log-keys/store.ts, in the detail of a check. */
const SANDBOX_LOG = /^signed by \S+\/anchors\/sandbox,/

if (import.meta.main) {
  const { status, stdout, stderr } = await verifyCommand(process.argv.slice(2))
  process.stdout.write(stdout)
  process.stderr.write(stderr)
  process.exitCode = status
}

interface VerifyOutcome {
  /** as HELP documents */
  status: 0 | 1 | 2 | 3
  stdout: string
  stderr: string
}

/** Works without settings; `args` are those after `verify --`. */
export async function verifyCommand(args: readonly string[]): Promise<VerifyOutcome> {
  try {
    const { values, positionals } = parseOptions({
      args: [...args],
      allowPositionals: true,
      options: {
        proof: { type: 'string' },
        key: { type: 'string', multiple: true },
        witness: { type: 'string', multiple: true },
        quorum: { type: 'string' },
        policy: { type: 'string' },
        'evidence-keys': { type: 'string' },
        issuer: { type: 'string' },
        'status-list': { type: 'string' },
        before: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    const [file, ...rest] = positionals
    if (values.help) return { status: 0, stdout: `${HELP}\n`, stderr: '' }
    if (file === undefined || rest.length > 0) throw new CommandLineError('expected one FILE; --help lists the options')
    if ([file, ...Object.values(values)].filter((value) => value === STDIN).length > 1)
      throw new CommandLineError('only one file can be -, which is standard input')
    const trust = {
      policy: readPolicy(values),
      keys: readKeys(values['evidence-keys']),
      passport: readPassportTrust(values.issuer, values['status-list']),
    }
    const verification =
      values.before === undefined
        ? await verifyFile(file, values.proof, trust)
        : verifyOrder([file, values.proof], values.before, trust.policy)
    const text = values.json ? JSON.stringify(verification, null, 2) : describe(verification)
    return { status: exitStatus(verification, trust), stdout: `${text}\n`, stderr: '' }
  } catch (error) {
    const isUsage = error instanceof CommandLineError
    const text =
      error instanceof CodedError ? `${error.code}: ${error.message}` : isUsage ? error.message : String(error)
    return { status: 2, stdout: '', stderr: `${text}\n` }
  }
}

interface Trust {
  policy: TrustPolicy | undefined
  keys: EvidenceKey[] | undefined
  passport: PassportTrust
}

function exitStatus({ result }: Verification, { policy, keys, passport }: Trust): VerifyOutcome['status'] {
  if (result === 'FAILED') return 1
  return result === 'PARTIAL' && (policy ?? keys ?? passport.issuer) !== undefined ? 3 : 0
}

async function verifyFile(file: string, proofFile: string | undefined, trust: Trust): Promise<Verification> {
  const { policy, keys } = trust
  const bytes = readBounded(file, MAX_BUNDLE_BYTES)
  if (isZip(bytes)) return await verifyBagitBundle(bytes, keys, policy)
  requireSize(bytes.length, file, MAX_FILE_BYTES)
  if (bytes.subarray(0, 5).toString() === '%PDF-')
    throw new Error(`${file} is a PDF: verify it on the page /verify, or verify the pack (JSON) that is attached to it`)
  const text = bytes.length > MAX_CREDENTIAL_BYTES ? '' : bytes.toString()
  const value = isCredential(text) ? text : asObject(parseJsonBytes(bytes, { allowNul: true }), file)
  const passport = readPassport(value)
  if (passport)
    return verifyPassport(passport, trust.passport, proofFile === undefined ? undefined : readProof(proofFile), policy)
  if (typeof value === 'string') throw new Error(`${file} contains no JSON object`)
  if (isUptimeProof(value)) return verifyUptime(value, policy)
  if (isBundle(value)) return verifyBundle(parseBundle(value), keys, policy)
  // A row with its record has no anchor, so it is not an anchored object.
  const row = value.anchor === undefined ? asRowBundle(value) : undefined
  if (row) return verifyRow(row, proofFile === undefined ? undefined : readProof(proofFile), policy)
  if (isAbsence(value)) return verifyAbsence(value, proofFile === undefined ? undefined : readProof(proofFile), policy)
  if (isMembership(value))
    return verifyMembership(value, proofFile === undefined ? undefined : readProof(proofFile), policy)
  const { object, proof } = readObject(value, file)
  return verifyAnchored(object, proofFile === undefined ? proof : readProof(proofFile), policy)
}

function verifyOrder(
  [file, proofFile]: [string, string | undefined],
  other: string,
  policy: TrustPolicy | undefined,
): Verification {
  const read = (path: string) => readObject(asObject(readJson(path), path), path)
  const first = read(file)
  return verifyBefore(
    { object: first.object, proof: proofFile === undefined ? first.proof : readProof(proofFile) },
    read(other),
    policy,
  )
}

function readKeys(file: string | undefined): EvidenceKey[] | undefined {
  return file === undefined ? undefined : parseEvidenceKeys(readJson(file))
}

function readPassportTrust(issuer: string | undefined, statusList: string | undefined): PassportTrust {
  return {
    issuer: issuer === undefined ? undefined : parsePassportIssuer(readJson(issuer)),
    statusList: statusList === undefined ? undefined : readBounded(statusList).toString(),
    nowMs: Date.now(),
  }
}

function describe({ payloadSha256, txId, checks, ...verification }: Verification): string {
  const labels = { passed: 'ok  ', failed: 'FAIL', open: '?   ' } as const
  const lines = checks.map(
    ({ name, result, code, detail }) => `${labels[result]} ${name.padEnd(10)} ${code ? `${code}: ` : ''}${detail}`,
  )
  const hashes = [`payloadSha256 ${payloadSha256 ?? '-'}`, `txId          ${txId ?? '-'}`]
  const isSandbox = checks.some(({ result, detail }) => result === 'passed' && SANDBOX_LOG.test(detail))
  const band = isSandbox ? ['SANDBOX: NOT EVIDENCE. The content describes no real business.'] : []
  return [verification.result, ...band, ...hashes, ...lines].join('\n')
}

/** An anchor block is never named `object`, so bundles and objects cannot be confused. */
function readObject(value: JsonObject, file: string): { object: JsonObject; proof?: ProofBundle } {
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
    if (values.key || values.witness || values.quorum)
      throw new Error('--policy cannot be combined with --key, --witness or --quorum')
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

function readBounded(file: string, limit = MAX_FILE_BYTES): Buffer {
  if (file !== STDIN) requireSize(statSync(file).size, file, limit)
  const bytes = readFileSync(file === STDIN ? process.stdin.fd : file)
  requireSize(bytes.length, file, limit)
  return bytes
}

function requireSize(bytes: number, file: string, limit: number): void {
  if (bytes > limit) throw new Error(`${file} is larger than ${limit} bytes`)
}

function asObject(value: JsonValue, file: string): JsonObject {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Error(`${file} contains no JSON object`)
  return value
}
