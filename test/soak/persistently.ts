import { eventually } from '../support/eventually.ts'

/** Longest wait for the database to take what the books need: it may just be between two primaries. */
const MAX_WAIT_MS = 120_000

/** Returns the result of a statement of the test, with retries. The statement must be safe to run twice. */
export async function persistently<T>(what: string, run: () => Promise<T>): Promise<T> {
  const { value } = await eventually(
    what,
    async () =>
      await run().then(
        (value) => ({ value }),
        () => null,
      ),
    MAX_WAIT_MS,
  )
  return value
}
