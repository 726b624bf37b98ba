/** Concurrent callers share one load; after a failure the next caller retries. */
export function refreshed<T>(load: (known: T | undefined) => Promise<T>): (maxAgeMs: number) => Promise<T> {
  let known: T | undefined
  let loadedAt = Number.NEGATIVE_INFINITY
  let loading: Promise<T> | null = null

  async function loadAgain(): Promise<T> {
    try {
      const value = await load(known)
      known = value
      loadedAt = performance.now()
      return value
    } finally {
      loading = null
    }
  }

  return async (maxAgeMs) => {
    if (known !== undefined && performance.now() - loadedAt < maxAgeMs) return known
    loading ??= loadAgain()
    return await loading
  }
}
