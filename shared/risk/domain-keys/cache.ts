import type { ApiEnv } from '../../environment.ts'

const MAX_AGE_MS = 30_000

/** Caches for 30 seconds; does not cache failures. */
export function cachedPerEnv<T>(load: (env: ApiEnv) => Promise<T>): (env: ApiEnv) => Promise<T> {
  const known = new Map<ApiEnv, { value: Promise<T>; loadedAt: number }>()
  return async (env) => {
    const entry = known.get(env)
    if (entry && performance.now() - entry.loadedAt < MAX_AGE_MS) return await entry.value
    const value = load(env)
    known.set(env, { value, loadedAt: performance.now() })
    value.catch(() => known.delete(env))
    return await value
  }
}
