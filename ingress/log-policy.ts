import type { ApiEnv } from '#shared/environment.ts'
import { type NoteKey, parseVerifierKey } from '#shared/transparency/anchoring/note-key.ts'
import { flatPolicy, type TrustPolicy } from '#shared/transparency/anchoring/policy.ts'
import { ensureLogSigner, logName } from '#shared/transparency/log-keys/store.ts'
import type { IngressDeps } from './deps.ts'

/** Creates the key on the first use of the log. */
export async function logKey(deps: IngressDeps, env: ApiEnv): Promise<NoteKey> {
  const known = deps.logKeys.get(env)
  if (known) return known
  const { key } = await ensureLogSigner(deps.db, deps.secrets, env, deps.config.publicUrl)
  deps.logKeys.set(env, key)
  return key
}

/** Verifiers must trust the log and more than half of the witnesses. */
export async function logPolicy(deps: IngressDeps, env: ApiEnv): Promise<TrustPolicy> {
  const { publicUrl, witnessUrls, witnessKeys } = deps.config
  const witnesses = witnessKeys.map((text, index) => {
    const url = witnessUrls[index]
    return { key: parseVerifierKey(text), ...(url === undefined ? {} : { url }) }
  })
  const threshold = witnesses.length === 0 ? 0 : Math.floor(witnesses.length / 2) + 1
  const log = { key: await logKey(deps, env), url: `${publicUrl}/v1/transparency/${logName(env)}` }
  return flatPolicy([log], witnesses, threshold)
}
