import { parseArgs } from 'node:util'
import { load, newKeyPair, save } from './files.ts'
import type { Wallet } from './main.ts'
import { issue, type KeyPair } from './sd-jwt.ts'

const HELP = `A small issuer of SD-JWT VCs.

  node --import tsx examples/wallet/issuer.ts new --iss https://issuer.example --vct TYPE [--file issuer.json]
      makes a key, and prints what POST /v1/identity/issuers takes to trust it
  node --import tsx examples/wallet/issuer.ts issue CLAIMS [--wallet wallet.json] [--file issuer.json]
      prints a credential of these claims, JSON, for the key of a wallet

Exit status: 0 done, 2 usage.
`

interface Issuer extends KeyPair {
  iss: string
  vct: string
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      iss: { type: 'string' },
      vct: { type: 'string' },
      file: { type: 'string', default: 'issuer.json' },
      wallet: { type: 'string', default: 'wallet.json' },
    },
  })
  const { iss, vct, file } = values
  const [command, claims] = positionals
  if (command === 'new' && iss !== undefined && vct !== undefined) {
    const issuer: Issuer = { iss, vct, ...(await newKeyPair()) }
    save(file, issuer)
    console.log(JSON.stringify({ iss, vctValues: [vct], jwks: { keys: [issuer.publicJwk] } }))
    return 0
  }
  if (command === 'issue' && claims !== undefined) {
    const issuer = load<Issuer>(file)
    const { kid: _kid, alg: _alg, ...jwk } = load<Wallet>(values.wallet).publicJwk
    console.log(await issue({ iss: issuer.iss, vct: issuer.vct, cnf: { jwk } }, JSON.parse(claims), issuer))
    return 0
  }
  console.log(HELP)
  return 2
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  return error instanceof TypeError && 'code' in error && `${error.code}`.startsWith('ERR_PARSE_ARGS') ? 2 : 1
})
