const SLICE_MS = 10

/** null while no sliced work runs */
let began: number | null = null
const waiting: (() => void)[] = []

interface TimeSlices {
  rest(): Promise<void>
  /** Returns the number of slices that the caller's work filled until its last rest, at least 1. */
  count(): number
}

/** `rest` yields after 10 ms. All sliced work of the process shares a slice; waiting work resumes in order. */
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

/** The event loop may run at each yield. */
export async function runYielding<Result>(work: Generator<undefined, Result>): Promise<Result> {
  const turns = createTimeSlices()
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await turns.rest()
  }
}

export async function mapYielding<In, Out>(items: Iterable<In>, change: (item: In) => Out): Promise<Out[]> {
  const turns = createTimeSlices()
  const changed: Out[] = []
  for (const item of items) {
    changed.push(change(item))
    await turns.rest()
  }
  return changed
}
