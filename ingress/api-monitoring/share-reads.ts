interface Reads<T> {
  running: Promise<T>
  /** for those who came after `running` began: it starts when that has ended */
  next: Promise<T> | null
}

/** Reads under a name, together with who asks for the same. */
export type SharedReads<T> = (name: string, read: () => Promise<T>) => Promise<T>

/**
 * Lets requests for the same thing share one read. A read is only shared by those who asked before it began, so each
 * sees at least everything that was there when it asked; under load one read serves all that came during the last.
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
