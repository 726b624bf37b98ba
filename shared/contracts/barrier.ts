/**
 * A barrier is a tiny message with a reply address, put into a shard's queue behind everything accepted before it.
 * The evaluator answers it once all before it is applied. It has no body, needs no confirm and may be lost: whoever
 * waits for it has a deadline.
 */
export const BARRIER_TYPE = 'barrier'
