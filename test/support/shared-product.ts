import test from 'ava'
import { type HttpProduct, openProduct } from './product.ts'

interface SharedOptions {
  /** settings that differ from those of tests; files with equal settings share a product */
  env?: Readonly<Record<string, string>>
  /** workers that must run, beside the ping evaluator */
  workers?: readonly string[]
}

interface Shared {
  product: Promise<HttpProduct>
  /** started workers by name */
  workers: Map<string, Promise<unknown>>
}

const shared = new Map<string, Shared>()

test.after.always(async () => {
  for (const { product, workers } of shared.values()) {
    await Promise.allSettled(workers.values())
    await (await product.catch(() => undefined))?.[Symbol.asyncDispose]()
  }
})

/**
 * Returns the product with an HTTP listener and row security that all test files of this process share. Each test makes
 * its own project or organisation. A test that changes settings, counts rows of the whole database, reads queues or needs
 * a worker to be absent opens its own product with `openProduct`.
 */
export async function sharedProduct({ env = {}, workers = [] }: SharedOptions = {}): Promise<HttpProduct> {
  const key = JSON.stringify(Object.entries(env).sort())
  let entry = shared.get(key)
  if (!entry) {
    entry = { product: openProduct({ listener: 'http', hasRowSecurity: true, env }), workers: new Map() }
    shared.set(key, entry)
  }
  const { product, workers: started } = entry
  const opened = await product
  for (const name of workers) {
    if (name === 'ping-evaluator') continue
    if (!started.has(name)) started.set(name, opened.workers([name]))
    await started.get(name)
  }
  return opened
}
