/** How long work over many items may go on before others have their turn, in milliseconds. */
const SLICE_MS = 10

/** when the present turn of the process began; null while no work runs in turns */
let began: number | null = null
const waiting: (() => void)[] = []

/** Work of one caller in turns. */
interface TimeSlices {
  /** Gives up the event loop if the present turn is over. */
  rest(): Promise<void>
  /** Returns how many turns the caller's own work filled until its last rest, at least 1. */
  count(): number
}

/**
 * Lets work whose length grows with what is stored share the event loop: called between two items, `rest` gives up the
 * loop once the present turn is longer than 10 ms, and returns at once before that. All this work of the process shares
 * a slice, for any number of requests; waiting work resumes in order, one item per slice.
 */
export function createTimeSlices(): TimeSlices {
  sliceStart()
  let resumed = performance.now()
  let sliceMs = 0
  return {
    async rest() {
      const now = performance.now()
      if (now - sliceStart() < SLICE_MS) return
      sliceMs += now - resumed
      await new Promise<void>((resolve) => waiting.push(resolve))
      resumed = performance.now()
    },
    count: () => Math.max(1, Math.ceil(sliceMs / SLICE_MS)),
  }
}

function sliceStart(): number {
  if (began === null) {
    began = performance.now()
    setImmediate(nextSlice)
  }
  return began
}

function nextSlice(): void {
  began = null
  const next = waiting.shift()
  if (!next) return
  sliceStart()
  next()
}

/** Runs work to its end in time slices; the event loop may run at each yield. */
export async function runYielding<Result>(work: Generator<undefined, Result>): Promise<Result> {
  const turns = createTimeSlices()
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await turns.rest()
  }
}

/** As `items.map(change)`, in turns. */
export async function mapYielding<In, Out>(items: Iterable<In>, change: (item: In) => Out): Promise<Out[]> {
  const turns = createTimeSlices()
  const changed: Out[] = []
  for (const item of items) {
    changed.push(change(item))
    await turns.rest()
  }
  return changed
}
