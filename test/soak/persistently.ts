import { eventually } from '../support/eventually.ts'

/** Longest wait for the database to take what the books need: it may just be between two primaries. */
const MAX_WAIT_MS = 120_000

/** What a statement of the books gives, however often it has to be tried. It must do no harm when it is run twice. */
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
