import { createHash, verify, X509Certificate } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { z } from 'zod'
import { CommandLineError, parseOptions } from '#shared/platform/process/command-line.ts'
import { type HttpRequest, NoAnswerError } from '#shared/risk/registries/connector.ts'
import { openProviderHttp } from './provider-http.ts'
import { retryAfterSeconds } from './rules.ts'
import { isAllowedAddress } from './settings.ts'

/** Certificates of e-invoice portals, which a person downloads. Nothing is stored or changed. */

const DAY_MS = 86_400_000
const AMBER_DAYS = 60

interface CertificateLine {
  file: string
  /** SHA-1 of the certificate, which tokens name as their key id */
  kid: string
  notBefore: string
  notAfter: string
  subject: string
  verifiesToken?: boolean
  warning?: 'EXPIRED' | 'ENDS_SOON'
}

export interface KeysOutcome {
  exit: number
  keys: CertificateLine[]
  commands: string[]
  message?: string
}

/** Reads the certificates of a folder, and states which one verifies a token. */
export function readKeys(
  input: { folder: string; issuer: string; env: string; token?: string | undefined },
  nowMs: number,
): KeysOutcome {
  const keys: CertificateLine[] = []
  const commands: string[] = []
  const token = input.token === undefined ? undefined : readFileSync(input.token, 'utf8').trim()
  const kid = token === undefined ? undefined : kidOf(token)
  for (const file of certificateFiles(input.folder)) {
    const path = join(input.folder, file)
    const certificate = certificateOf(readFileSync(path))
    if (!certificate) return { exit: 3, keys: [], commands: [], message: `${file} is not a certificate in PEM or DER` }
    const line = lineOf(file, certificate, nowMs)
    keys.push(token === undefined ? line : { ...line, verifiesToken: line.kid === kid && verifies(certificate, token) })
    const command = `npm run -s admin -- invoice-key add --issuer ${quoted(input.issuer)} --certificate ${quoted(path)} --env ${input.env}`
    commands.push(`${command} --provenance "<where you downloaded it, and when>"`)
  }
  if (keys.length === 0) return { exit: 1, keys, commands, message: `${input.folder} has no certificate` }
  if (token === undefined || keys.some(({ verifiesToken }) => verifiesToken)) return { exit: 0, keys, commands }
  const message = keys.some((line) => line.kid === kid)
    ? 'the certificate that the token names does not verify its signature'
    : 'no certificate in the folder has the key id that the token names'
  return { exit: 1, keys, commands, message }
}

/** Compares certificates at addresses that the operator gave with the known ones. Changes nothing. */
export async function watchKeys(
  input: { folder: string; urls: readonly string[] },
  http: HttpRequest,
  nowMs: number,
): Promise<KeysOutcome> {
  const known = certificateFiles(input.folder).flatMap((file) => {
    const certificate = certificateOf(readFileSync(join(input.folder, file)))
    return certificate ? [lineOf(file, certificate, nowMs)] : []
  })
  const served: string[] = []
  const outcome = (exit: number, message: string): KeysOutcome => ({ exit, keys: known, commands: [], message })
  for (const url of input.urls) {
    const answer = await http({
      method: 'GET',
      url,
      headers: {},
      timeoutMs: 15_000,
      connectTimeoutMs: 5000,
      signal: AbortSignal.timeout(15_000),
    }).catch((error: unknown) => {
      if (error instanceof NoAnswerError) return undefined
      throw error
    })
    if (answer?.status === 429) {
      const seconds = retryAfterSeconds(answer.headers['retry-after'], nowMs, 60)
      return outcome(1, `the portal requires a wait of ${seconds} s; nothing was changed`)
    }
    if (answer?.status !== 200) return outcome(1, `${url} did not answer; nothing was changed`)
    const certificate = certificateOf(answer.body)
    if (!certificate) return outcome(3, `${url} is not a certificate in PEM or DER`)
    served.push(lineOf(basename(new URL(url).pathname), certificate, nowMs).kid)
  }
  const added = served.filter((kid) => !known.some((line) => line.kid === kid))
  const missing = known.filter(({ kid }) => !served.includes(kid)).map(({ kid }) => kid)
  const changes = [...added.map((kid) => `new: ${kid}`), ...missing.map((kid) => `missing: ${kid}`)]
  return changes.length === 0 ? { exit: 0, keys: known, commands: [] } : outcome(1, changes.join('; '))
}

export interface KeyHealth {
  /** until the issuer's last certificate ends */
  daysLeft: number
  isAmber: boolean
}

/**
 * Returns the days left by issuer. Certificates in a subfolder belong to the issuer of its name, others to the issuer
 * that the folder is named after.
 */
export function keyHealth(folder: string, nowMs: number): Record<string, KeyHealth> {
  const subfolders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const folders = [folder, ...subfolders.map(({ name }) => join(folder, name))]
  return Object.fromEntries(
    folders.flatMap((issuer) => {
      const ends = certificateFiles(issuer).flatMap((file) => {
        const certificate = certificateOf(readFileSync(join(issuer, file)))
        return certificate ? [Date.parse(certificate.validTo)] : []
      })
      if (ends.length === 0) return []
      const daysLeft = Math.floor((Math.max(...ends) - nowMs) / DAY_MS)
      return [[basename(resolve(issuer)), { daysLeft, isAmber: daysLeft < AMBER_DAYS }]]
    }),
  )
}

/** Quotes a word for a shell if it needs that. */
function quoted(word: string): string {
  return /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

function certificateFiles(folder: string): string[] {
  if (!existsSync(folder)) throw new CommandLineError(`--folder ${folder} does not exist`)
  return readdirSync(folder)
    .filter((file) => /\.(cer|crt|pem|der)$/i.test(file))
    .sort()
}

function certificateOf(bytes: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes)
  } catch {
    return undefined
  }
}

function lineOf(file: string, certificate: X509Certificate, nowMs: number): CertificateLine {
  const notAfter = Date.parse(certificate.validTo)
  const left = notAfter - nowMs
  const warning = left <= 0 ? 'EXPIRED' : left < AMBER_DAYS * DAY_MS ? 'ENDS_SOON' : undefined
  return {
    file,
    kid: createHash('sha1').update(certificate.raw).digest('hex').toUpperCase(),
    notBefore: new Date(certificate.validFrom).toISOString().slice(0, 10),
    notAfter: new Date(notAfter).toISOString().slice(0, 10),
    subject: certificate.subject.split('\n').reverse().join(', '),
    ...(warning === undefined ? {} : { warning }),
  }
}

const tokenHeader = z.object({ kid: z.string(), alg: z.string() })

function kidOf(token: string): string | undefined {
  try {
    const [head = ''] = token.split('.')
    return tokenHeader.parse(JSON.parse(Buffer.from(head, 'base64url').toString('utf8'))).kid
  } catch {
    return undefined
  }
}

function verifies(certificate: X509Certificate, token: string): boolean {
  const [head = '', payload = '', signature = ''] = token.split('.')
  const input = Buffer.from(`${head}.${payload}`)
  return verify('RSA-SHA256', input, certificate.publicKey, Buffer.from(signature, 'base64url'))
}

/** `keys read` and `keys watch`. */
export async function keys(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: {
      folder: { type: 'string' },
      issuer: { type: 'string' },
      env: { type: 'string', default: 'PRODUCTION' },
      token: { type: 'string' },
      url: { type: 'string', multiple: true, default: [] },
    },
  })
  const { folder, issuer, env, token, url: urls } = values
  if (!folder) throw new CommandLineError('--folder is needed')
  if (positionals[0] === 'read') {
    if (!issuer) throw new CommandLineError('--issuer is needed: the `iss` of a token of the portal')
    if (token !== undefined && !existsSync(token)) throw new CommandLineError(`--token ${token} does not exist`)
    return printed(readKeys({ folder, issuer, env, token }, Date.now()))
  }
  if (positionals[0] !== 'watch') throw new CommandLineError('there are keys read and keys watch')
  const wrong = urls.find((url) => !isAllowedAddress(url))
  if (urls.length === 0 || wrong !== undefined) throw new CommandLineError('--url must be one or more https addresses')
  await using client = openProviderHttp()
  return printed(await watchKeys({ folder, urls }, client.http, Date.now()))
}

function printed({ exit, keys: lines, commands, message }: KeysOutcome): number {
  for (const { file, kid, notBefore, notAfter, subject, verifiesToken, warning } of lines) {
    const token =
      verifiesToken === undefined ? '' : verifiesToken ? '  verifies the token' : '  not the key of the token'
    console.log(`${file}  ${kid}  ${notBefore} to ${notAfter}  ${subject}${token}${warning ? `  ${warning}` : ''}`)
  }
  for (const command of commands) console.log(command)
  if (message !== undefined) console.error(message)
  return exit
}
