import type { Broker } from './broker.ts'
import type { Consumer } from './consumer.ts'

/** Returns the broker for one role of a process: its problems leave out the consumers of the other roles. */
export function brokerOfRole(broker: Broker): Broker {
  const own = new Set<Consumer>()
  return {
    ...broker,
    get publisherEpoch() {
      return broker.publisherEpoch
    },
    consume(options) {
      const consumer = broker.consume(options)
      own.add(consumer)
      consumer.onClosed(() => own.delete(consumer))
      return consumer
    },
    problems: () => [...broker.connectionProblems(), ...[...own].flatMap((consumer) => consumer.problems())],
  }
}
