/** Random choices from a seed; the same seed gives the same choices on every machine. */
export interface Random {
  /** a whole number from 0 up to, but not including, `below` */
  int(below: number): number
  /** true in one of `times` cases */
  oneIn(times: number): boolean
  pick<T>(choices: readonly [T, ...T[]] | readonly T[]): T
}

/** Random choices from a 32-bit seed (mulberry32). */
function createRandom(seed: number): Random {
  let state = seed >>> 0
  const int = (below: number): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
  return {
    int,
    oneIn: (times) => int(times) === 0,
    pick(choices) {
      const chosen = choices[int(choices.length)]
      if (chosen === undefined) throw new Error('there is nothing to pick from')
      return chosen
    },
  }
}

/** Returns random numbers from 0 up to, but not including, 1. */
export function fractionsOf(seed: number): () => number {
  const { int } = createRandom(seed)
  return () => int(2 ** 32) / 2 ** 32
}

/** Returns the choices of one case of a run: each case can be repeated without those before it. */
export function randomOf(seed: number, index = 0): Random {
  return createRandom(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(index + 1, 0xc2b2ae35))
}
