import { type Origin, origins } from './resolve-services.ts'

/**
 * The ways to try, in order. Data is where it was found the last time, so a server of ours or one on localhost is looked
 * for there before anything that appeared since; what the environment names always comes first.
 * @param allowed comma-separated ways (the STACK_SERVICES setting of `make up`); all when not given
 * @throws Error for a way that does not exist
 */
export function orderOfOrigins(allowed: string | undefined, last: Origin | undefined): Origin[] {
  const wanted = allowed?.split(',').map((name) => name.trim())
  const unknown = wanted?.find((name) => !origins.some((origin) => origin === name))
  if (unknown !== undefined) throw new Error(`STACK_SERVICES: ${unknown} is none of ${origins.join(', ')}`)
  const order = new Set<Origin>(last === undefined ? origins : ['environment', last, ...origins])
  return [...order].filter((origin) => wanted === undefined || wanted.includes(origin))
}
