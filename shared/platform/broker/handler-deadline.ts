/** @throws Error when `work` takes longer; it goes on all the same, and must be safe to repeat */
export async function withDeadline(work: Promise<void>, ms: number): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new HandlerTimeoutError(`took longer than ${ms} ms`)), ms)
  try {
    await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

class HandlerTimeoutError extends Error {
  readonly code = 'HANDLER_TIMEOUT'
}
