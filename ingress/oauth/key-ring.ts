import type { Knex } from 'knex'
import { refreshed } from '#shared/platform/process/refreshed.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import { generateTokenKey, importKey, type TokenAlg, type VerificationKey } from '#shared/tenancy/oauth/access-token.ts'
import { insertFirstKeys, listTokenKeys, type TokenKeyRecord } from '#shared/tenancy/oauth/store.ts'

export interface KeyRing {
  signer(alg: TokenAlg): Promise<VerificationKey>
  verifier(kid: string): Promise<VerificationKey | undefined>
  /** the current keys, the announced next key, and retired keys whose tokens may still be valid */
  published(): Promise<Record<string, unknown>[]>
}

interface Loaded {
  records: TokenKeyRecord[]
  signers: Map<TokenAlg, VerificationKey>
  verifiers: Map<string, VerificationKey>
}

/** A rotation is noticed within this time; the new signing key was published long before. */
const REFRESH_MS = 30_000
/** Minimum time between refreshes because of an unknown key id. */
const UNKNOWN_REFRESH_MS = 5_000

interface KeyRingDeps {
  db: Knex
  secrets: Pick<Secrets, 'open' | 'seal'>
}

/** Loads the keys at first use. The first process of an installation creates them. */
export function createKeyRing({ db, secrets }: KeyRingDeps): KeyRing {
  async function load(): Promise<Loaded> {
    let records = await listTokenKeys(db)
    if (!records.some(({ role }) => role === 'CURRENT')) {
      await makeFirstKeys({ db, secrets })
      records = await listTokenKeys(db)
    }
    const signers = new Map<TokenAlg, VerificationKey>()
    const verifiers = new Map<string, VerificationKey>()
    for (const { kid, alg, role, publicJwk, sealedPrivateJwk } of records) {
      verifiers.set(kid, { kid, alg, key: await importKey(publicJwk, alg) })
      if (role !== 'CURRENT') continue
      signers.set(alg, { kid, alg, key: await importKey(JSON.parse(secrets.open('token-key', sealedPrivateJwk)), alg) })
    }
    return { records, signers, verifiers }
  }

  const fresh = refreshed(load)

  return {
    async signer(alg) {
      const key = (await fresh(REFRESH_MS)).signers.get(alg)
      if (!key) throw new Error(`no key signs ${alg}`)
      return key
    },
    async verifier(kid) {
      const known = (await fresh(REFRESH_MS)).verifiers.get(kid)
      return known ?? (await fresh(UNKNOWN_REFRESH_MS)).verifiers.get(kid)
    },
    async published() {
      return (await fresh(REFRESH_MS)).records.map(({ publicJwk }) => publicJwk)
    },
  }
}

/** Creates a current and a next ES256 key, and an RS256 key for clients that cannot verify ES256. */
async function makeFirstKeys({ db, secrets }: KeyRingDeps): Promise<void> {
  const roles = [
    ['ES256', 'CURRENT'],
    ['ES256', 'NEXT'],
    ['RS256', 'CURRENT'],
  ] as const
  const keys = await Promise.all(
    roles.map(async ([alg, role]) => {
      const key = await generateTokenKey(alg)
      return { key, role, sealed: secrets.seal('token-key', JSON.stringify(key.privateJwk)) }
    }),
  )
  await insertFirstKeys(db, keys)
}
