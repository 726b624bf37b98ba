import { z } from 'zod'

/** Running calls that a separate message may cancel, by caller and id. */
export type CancellableCalls = Map<string, Set<AbortController>>

const CallSchema = z.object({ method: z.literal('tools/call'), id: z.union([z.string(), z.number()]) })
const CancelledSchema = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
})

/**
 * Registers a tool call, or aborts the call that a cancellation names: in the revision 2025-11-25 a client cancels by a
 * separate message. A call is not aborted if another call of its caller has the same id, or if the cancellation reaches
 * another listener. It then ends within ten seconds.
 * @param from the key and the address of the message's sender
 * @returns a signal that is aborted on cancellation; disposing it unregisters the call
 */
export function followMessage(
  message: unknown,
  from: string,
  calls: CancellableCalls,
): { signal: AbortSignal; [Symbol.dispose](): void } {
  const controller = new AbortController()
  const cancelled = CancelledSchema.safeParse(message)
  if (cancelled.success) {
    const [only, ...others] = calls.get(nameOf(from, cancelled.data.params.requestId)) ?? []
    if (others.length === 0) only?.abort()
  }
  const call = CallSchema.safeParse(message)
  if (!call.success) return { signal: controller.signal, [Symbol.dispose]: () => {} }
  const name = nameOf(from, call.data.id)
  const same = calls.get(name) ?? new Set()
  calls.set(name, same.add(controller))
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      same.delete(controller)
      if (same.size === 0) calls.delete(name)
    },
  }
}

function nameOf(from: string, id: string | number): string {
  return `${from} ${JSON.stringify(id)}`
}
