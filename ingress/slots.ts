import { UnavailableError } from '#shared/errors.ts'

/** Runs at most some works of one name at a time; the others wait for their turn. */
export interface Slots {
  run<T>(name: string, work: () => Promise<T>): Promise<T>
}

/** @param concurrency works of one name that run at once */
export function createSlots(concurrency: number): Slots {
  const busy = new Map<string, { running: number; waiting: PromiseWithResolvers<void>[] }>()

  return {
    async run<T>(name: string, work: () => Promise<T>): Promise<T> {
      const slot = busy.get(name) ?? { running: 0, waiting: [] }
      busy.set(name, slot)
      if (slot.running < concurrency) slot.running += 1
      else {
        const turn = Promise.withResolvers<void>()
        slot.waiting.push(turn)
        await turn.promise
      }
      try {
        return await work()
      } catch (error) {
        // What cannot be served now is not served to those who wait either: they would only wait as long once more.
        if (error instanceof UnavailableError) for (const turn of slot.waiting.splice(0)) turn.reject(error)
        throw error
      } finally {
        const next = slot.waiting.shift()
        if (next) next.resolve()
        else {
          slot.running -= 1
          if (slot.running === 0) busy.delete(name)
        }
      }
    },
  }
}
