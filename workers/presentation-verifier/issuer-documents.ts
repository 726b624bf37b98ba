import type { JWK } from 'jose'
import { LRUCache } from 'lru-cache'
import type { ApiEnv } from '#shared/environment.ts'
import type { Owner } from '#shared/jobs/job.ts'
import { createHttpClient } from '#shared/platform/http/http-client.ts'
import { HttpClientError } from '#shared/platform/http/http-error.ts'
import { readJwksMetadata } from '#shared/risk/credentials/issue.ts'
import { isSignedBy } from '#shared/risk/credentials/jwt.ts'
import { sandboxStatusToken } from '#shared/risk/credentials/sandbox-issuer.ts'
import {
  type CredentialStatus,
  inflateList,
  isStatusAddress,
  readStatusToken,
  type StatusList,
  type StatusReference,
  statusAt,
} from '#shared/risk/credentials/status-list.ts'
import { issuerKeys, type TrustedIssuer } from '#shared/risk/credentials/trusted-issuer.ts'
import type { SigningKey } from '#shared/risk/domain-keys/signing-key.ts'
import { type DueStatus, findDueStatus } from '#shared/risk/identity/verification-store.ts'
import { suspendByStatus } from '#shared/risk/operations/issuers.ts'
import { toSeconds } from '#shared/time.ts'
import type { WorkerDeps } from '../define-worker.ts'

/** All attempts together take less than a minute. */
const ATTEMPTS = 3
const TIMEOUT_MS = 10_000
const RETRY_DELAY_MS = 2_000
/** Compressed size of a list; the inflated size has its own limit. */
const MAX_BODY_BYTES = 4 * 1024 * 1024
/** Total size of cached inflated lists. */
const CACHE_BYTES = 64 * 1024 * 1024
/** Time for which keys from the metadata of an issuer are cached. */
const METADATA_TTL_MS = 300_000

/** Finds the trusted issuers of `iss`. In the sandbox, the built-in issuer is trusted for the types `vctValues`. */
export type FindTrusted = (owner: Owner, iss: string, vctValues: readonly string[]) => Promise<TrustedIssuer[]>

/** Fetches status lists and issuer keys, with limits of size and time, and caches them. */
export interface IssuerDocuments extends AsyncDisposable {
  statusOf(env: ApiEnv, reference: StatusReference, issuer: TrustedIssuer): Promise<CredentialStatus>
  fetchKeys(issuer: TrustedIssuer): Promise<readonly JWK[]>
}

export function openIssuerDocuments(
  deps: Pick<WorkerDeps, 'config' | 'now'>,
  sandboxKey: () => Promise<SigningKey>,
): IssuerDocuments {
  const { allowPrivateTargets, siteName, oid4vpCa } = deps.config
  const http = createHttpClient({
    policy: { plainHttp: 'allowed-networks', allowPrivate: allowPrivateTargets },
    userAgent: siteName,
    timeoutMs: TIMEOUT_MS,
    maxBodyBytes: MAX_BODY_BYTES,
    ...(oid4vpCa === undefined ? {} : { certificateAuthority: oid4vpCa }),
  })
  const lists = new LRUCache<string, StatusList>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ bytes }) => bytes.length + 1,
  })
  const keys = new LRUCache<string, JWK[]>({ max: 500, ttl: METADATA_TTL_MS })
  const nowSeconds = () => toSeconds(deps.now())

  async function fetchText(url: string, accept: string): Promise<string | null> {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await http.request({ method: 'GET', url, headers: { accept } })
        if (answer.status === 200) return answer.truncated ? null : answer.body.toString('utf8')
        if (answer.status < 500) return null
      } catch (error) {
        // A blocked address stays blocked, so a retry is useless.
        if (!(error instanceof HttpClientError) || error.failure === 'blocked') return null
      }
      if (attempt === ATTEMPTS) return null
      await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS))
    }
  }

  async function load(env: ApiEnv, uri: string, issuer: TrustedIssuer): Promise<StatusList | null> {
    const isSandbox = env === 'SANDBOX' && issuer.id === 'sandbox'
    const hosts = [
      ...issuer.statusHosts,
      ...(issuer.statusHosts.length === 0 ? [URL.parse(issuer.iss)?.host ?? ''] : []),
    ]
    const text = isSandbox
      ? await sandboxStatusToken(uri, await sandboxKey(), Math.floor(nowSeconds()))
      : isStatusAddress(uri, hosts)
        ? await fetchText(uri, 'application/statuslist+jwt')
        : null
    const token = text === null ? null : readStatusToken(text, uri, nowSeconds())
    if (!token) return null
    const fetched = issuer.hasMetadata ? await fetchKeys(issuer) : []
    const candidates = issuerKeys(token.jwt.header, issuer, fetched, nowSeconds() * 1000)
    const signed = await Promise.all(candidates.map((key) => isSignedBy(token.jwt, key)))
    const list = signed.includes(true) ? await inflateList(token) : null
    const ttl = Math.floor((token.until - nowSeconds()) * 1000)
    if (list && ttl > 0) lists.set(`${issuer.id} ${uri}`, list, { ttl })
    return list
  }

  async function fetchKeys(issuer: TrustedIssuer): Promise<readonly JWK[]> {
    const known = keys.get(issuer.iss)
    if (known) return known
    const url = URL.parse(issuer.iss)
    if (url?.protocol !== 'https:') return []
    const path = url.pathname === '/' ? '' : url.pathname
    const text = await fetchText(`${url.origin}/.well-known/jwt-vc-issuer${path}`, 'application/json')
    const found = text === null ? [] : readJwksMetadata(text, issuer.iss)
    if (found.length > 0) keys.set(issuer.iss, found)
    return found
  }

  return {
    async statusOf(env, { uri, idx }, issuer) {
      const list = lists.get(`${issuer.id} ${uri}`) ?? (await load(env, uri, issuer))
      return list ? statusAt(list, idx) : 'UNAVAILABLE'
    },
    fetchKeys,
    async [Symbol.asyncDispose]() {
      await http[Symbol.asyncDispose]()
    },
  }
}

/** An invalid credential suspends the identity. */
export function statusLookup(deps: WorkerDeps, trusted: FindTrusted, documents: IssuerDocuments) {
  return async ({ verificationId }: { verificationId: string }): Promise<void> => {
    const due = await findDueStatus(deps.db, verificationId)
    if (due && (await isInvalid(deps, due, trusted, documents))) {
      await deps.outbox.run((tx, enqueue) =>
        suspendByStatus(tx, due, { enqueue, secrets: deps.secrets, now: deps.now }),
      )
    }
  }
}

/** An unavailable list does not count as invalid. */
async function isInvalid(
  deps: WorkerDeps,
  due: DueStatus,
  trusted: FindTrusted,
  documents: IssuerDocuments,
): Promise<boolean> {
  // This service sealed the value, so its type is certain.
  const references = JSON.parse(deps.secrets.open('identity', due.sealedStatus)) as (StatusReference & {
    iss: string
  })[]
  for (const reference of references) {
    for (const issuer of await trusted(due, reference.iss, [])) {
      const status = await documents.statusOf(due.env, reference, issuer)
      if (status === 'REVOKED' || status === 'SUSPENDED') return true
    }
  }
  return false
}
