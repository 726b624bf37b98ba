/**
 * Node's option for TypeScript in processes of the product: the hooks of the product with source maps. The
 * tests of the local stack start processes as an operator does, and those of the examples with tsx.
 */
export const readTypescript = `--import=${new URL('load-typescript.ts', import.meta.url)}`

/** The run's compiled code serves the processes of the product too. */
export function compileCache(): Record<string, string> {
  const { NODE_COMPILE_CACHE } = process.env
  return NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}
}
