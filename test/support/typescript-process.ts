/**
 * The option by which processes of the product read TypeScript in tests: as the test processes do, for half of the
 * processor time that tsx takes, by which an operator starts them. That tsx does start them is held by the tests of the
 * local stack and of the examples.
 */
export const readTypescript = `--import=${new URL('load-typescript.ts', import.meta.url)}`

/** The run's compiled code serves the processes of the product too. */
export function compileCache(): Record<string, string> {
  const { NODE_COMPILE_CACHE } = process.env
  return NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}
}
