import { UnavailableError } from '#shared/errors.ts'

/**
 * Attempts of one address that are decided on at once. Each holds a token meanwhile, so a client that asks for many
 * tokens at once with a right secret must not empty its own bucket: this is below the smallest of them.
 */
const CONCURRENCY = 4

/** Runs at most some works of one name at a time; the others wait for their turn. */
export interface TokenSlots {
  run<T>(name: string, work: () => Promise<T>): Promise<T>
}

export function createTokenSlots(): TokenSlots {
  const busy = new Map<string, { running: number; waiting: PromiseWithResolvers<void>[] }>()

  return {
    async run<T>(name: string, work: () => Promise<T>): Promise<T> {
      const slot = busy.get(name) ?? { running: 0, waiting: [] }
      busy.set(name, slot)
      if (slot.running < CONCURRENCY) slot.running += 1
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
