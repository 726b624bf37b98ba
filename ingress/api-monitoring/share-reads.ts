interface Reads<T> {
  running: Promise<T>
  /** read for requests that arrived after `running` began; it starts when `running` has ended */
  next: Promise<T> | null
}

export type SharedReads<T> = (name: string, read: () => Promise<T>) => Promise<T>

/**
 * Lets concurrent requests of the same name share one read. Requests share only a read that begins after them, so each
 * sees everything that was stored when it arrived. Under load, one read serves all requests of the previous read's time.
 */
export function createSharedReads<T>(): SharedReads<T> {
  const underWay = new Map<string, Reads<T>>()

  function start(name: string, read: () => Promise<T>): Promise<T> {
    const running = read()
    const reads: Reads<T> = { running, next: null }
    underWay.set(name, reads)
    const forget = () => {
      if (underWay.get(name) === reads && reads.next === null) underWay.delete(name)
    }
    running.then(forget, forget)
    return running
  }

  return (name, read) => {
    const reads = underWay.get(name)
    if (!reads) return start(name, read)
    reads.next ??= reads.running.then(
      () => start(name, read),
      () => start(name, read),
    )
    return reads.next
  }
}
