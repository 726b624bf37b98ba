import { eventually } from '../support/eventually.ts'

/** Maximum wait for the database, which may be failing over. */
const MAX_WAIT_MS = 120_000

/** Runs a statement of the test with retries. The statement must be safe to repeat. */
export async function withRetries<T>(what: string, run: () => Promise<T>): Promise<T> {
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
