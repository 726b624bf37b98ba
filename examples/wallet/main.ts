import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { load, newKeyPair, save } from './files.ts'
import { answer, fetchRequest, type Requested } from './request.ts'
import { claimsOf, disclosable, type KeyPair, present } from './sd-jwt.ts'

const HELP = `A small wallet: holds SD-JWT VCs and presents them by OpenID4VP 1.0.

  node --import tsx examples/wallet/main.ts key                     the public key that a credential is issued to
  node --import tsx examples/wallet/main.ts add CREDENTIAL          keeps a credential
  node --import tsx examples/wallet/main.ts present 'openid4vp://…' answers the request of a QR code
  TOKEN=… node --import tsx examples/wallet/main.ts demo --base URL runs issue, request and presentation in the sandbox

The wallet is the file wallet.json, or that of --wallet; it holds a private key.
Exit status: 0 accepted, 1 refused or nothing to present, 2 usage.
`
const DEMO = {
  vct: 'https://credentials.example/company',
  claims: { legalName: 'Synthetic Components Private Limited', gstin: '29AAACR5678D1Z5' },
}

export interface Wallet extends KeyPair {
  credentials: string[]
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { wallet: { type: 'string', default: 'wallet.json' }, base: { type: 'string' } },
  })
  const [command, given] = positionals
  const wallet = existsSync(values.wallet) ? load<Wallet>(values.wallet) : { ...(await newKeyPair()), credentials: [] }
  const keep = () => save(values.wallet, wallet)
  if (command === 'key') {
    keep()
    console.log(JSON.stringify(holderJwk(wallet)))
    return 0
  }
  if (command === 'add' && given !== undefined) {
    wallet.credentials.push(given.trim())
    keep()
    return 0
  }
  if (command === 'present' && given !== undefined) return await answerRequest(wallet, given)
  const { TOKEN } = process.env
  if (command === 'demo' && values.base !== undefined && TOKEN !== undefined) {
    const code = await demo(wallet, apiOf(values.base, TOKEN))
    keep()
    return code
  }
  console.log(HELP)
  return 2
}

function holderJwk({ publicJwk: { kid: _kid, alg: _alg, ...jwk } }: Wallet) {
  return jwk
}

/** Presents only the requested claims. */
async function answerRequest(wallet: Wallet, authorizationRequest: string): Promise<number> {
  const requested = await fetchRequest(authorizationRequest)
  const vpToken: Record<string, string[]> = {}
  for (const query of requested.dcql_query.credentials) {
    const names = query.claims.map(({ path }) => String(path[0]))
    const credential = choose(wallet, query.meta.vct_values, names)
    if (credential === undefined) {
      console.error(
        `nothing to present: no credential of ${query.meta.vct_values.join(' or ')} with ${names.join(', ')}`,
      )
      return 1
    }
    console.log(`presenting ${names.join(', ')} to ${requested.response_uri.split('/', 3).join('/')}`)
    vpToken[query.id] = [await present(credential, names, bindingOf(requested), wallet.privateJwk)]
  }
  const response = await answer(requested, vpToken)
  const body = (await response.json()) as { redirect_uri?: string; error?: string }
  if (body.redirect_uri !== undefined) console.log(`go on at ${body.redirect_uri}`)
  console.log(response.ok ? 'accepted' : `refused: ${body.error}`)
  return response.ok ? 0 : 1
}

/** Returns the newest credential of a type that can disclose all requested claims. */
function choose({ credentials }: Wallet, types: readonly string[], names: readonly string[]): string | undefined {
  return credentials.findLast((credential) => {
    const offered = disclosable(credential)
    return types.includes(String(claimsOf(credential).vct)) && names.every((name) => offered.includes(name))
  })
}

const bindingOf = ({ client_id: aud, nonce }: Requested) => ({ aud, nonce })

type Api = (method: 'GET' | 'POST', path: string, body?: object) => Promise<Record<string, unknown>>

function apiOf(base: string, token: string): Api {
  return async (method, path, body) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-idempotency-key': randomUUID(),
    }
    const answered = await fetch(base + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    if (!answered.ok) throw new Error(`${method} ${path}: ${answered.status} ${await answered.text()}`)
    return (await answered.json()) as Record<string, unknown>
  }
}

/** Uses the API as verifier and issuer, and this wallet as holder. */
async function demo(wallet: Wallet, api: Api): Promise<number> {
  const folder = '/v1/identity/presentations'
  const requested = await api('POST', folder, { purpose: 'a first look', template: 'company-basic' })
  console.log(`page: ${requested.pageUrl}`)
  const issued = await api('POST', '/v1/sandbox/credentials', { holderJwk: holderJwk(wallet), ...DEMO })
  wallet.credentials.push(String(issued.credential))
  const code = await answerRequest(wallet, String(requested.authorizationRequest))
  const { state, issuer, fields } = await api('GET', `${folder}/${requested.presentationId}`)
  const { iss } = (issuer ?? {}) as { iss?: string }
  console.log(`${state}: ${(fields as string[]).join(', ')} by ${iss}`)
  return code
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  return error instanceof TypeError && 'code' in error && `${error.code}`.startsWith('ERR_PARSE_ARGS') ? 2 : 1
})
