/** Long work yields after this time, so that other requests do not wait for it. */
const SLICE_MS = 10

/** start of the running slice; null between slices */
let startedAt: number | null = null
/** resumes the work that yielded, oldest first */
const waiting: (() => void)[] = []

interface TimeSlices {
  /**
   * Returns true if the running slice has lasted 10 ms. Test it before the first step: without an `await` in between, the
   * first steps of many requests that begin together cannot all run in one slice.
   */
  isUsedUp(): boolean
  /** Yields to the event loop if the running slice has lasted 10 ms. */
  yieldIfNeeded(): Promise<void>
  /** Returns the number of slices that the work filled until it last yielded, at least 1. */
  count(): number
}

/**
 * Divides long work into slices of 10 ms, between which the event loop runs. All work of the process shares the slices,
 * so that many concurrent requests do not take 10 ms each before the event loop runs.
 */
export function createTimeSlices(): TimeSlices {
  startSliceIfNone()
  let resumedAt = performance.now()
  let workedMs = 0
  const isUsedUp = () => performance.now() - startSliceIfNone() >= SLICE_MS
  return {
    isUsedUp,
    async yieldIfNeeded() {
      if (!isUsedUp()) return
      workedMs += performance.now() - resumedAt
      await new Promise<void>((resolve) => waiting.push(resolve))
      resumedAt = performance.now()
    },
    count: () => Math.max(1, Math.ceil(workedMs / SLICE_MS)),
  }
}

/** Returns the start of the running slice. `setImmediate` ends it, after the event loop has handled pending I/O. */
function startSliceIfNone(): number {
  if (startedAt === null) {
    startedAt = performance.now()
    setImmediate(endSlice)
  }
  return startedAt
}

function endSlice(): void {
  startedAt = null
  const resume = waiting.shift()
  if (!resume) return
  startSliceIfNone()
  resume()
}

/** Runs a generator and yields to the event loop before each of its steps if needed. */
export async function runYielding<Result>(work: Generator<undefined, Result>): Promise<Result> {
  const slices = createTimeSlices()
  for (;;) {
    if (slices.isUsedUp()) await slices.yieldIfNeeded()
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Maps items and yields to the event loop before each of them if needed. */
export async function mapYielding<In, Out>(items: Iterable<In>, change: (item: In) => Out): Promise<Out[]> {
  const slices = createTimeSlices()
  const changed: Out[] = []
  for (const item of items) {
    if (slices.isUsedUp()) await slices.yieldIfNeeded()
    changed.push(change(item))
  }
  return changed
}
