/**
 * What is loaded at first use and again once it is stale. Who comes while it loads shares that; after a failure the next
 * one tries again.
 * @param load given what is known from before
 * @returns what is not older than the given milliseconds
 */
export function refreshed<T>(load: (known: T | undefined) => Promise<T>): (maxAgeMs: number) => Promise<T> {
  let known: T | undefined
  /** milliseconds, of a clock that no one sets */
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
