/**
 * Ports at which no HTTP service is meant to listen: the Fetch standard's bad ports, whose services would read a request
 * as commands of their own, and those of databases, caches and brokers, our own among them.
 */
export const refusedPorts: ReadonlySet<number> = new Set([
  // https://fetch.spec.whatwg.org/#port-blocking
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109],
  ...[110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530],
  ...[531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190],
  ...[5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
  // PostgreSQL and its poolers, RabbitMQ with its management, our mail listener and our metrics
  ...[5432, 5433, 6432, 4369, 5671, 5672, 15671, 15672, 15692, 25672, 2525, 9464],
  // other databases and caches
  ...[1433, 1521, 3306, 6379, 9042, 11211, 27017],
])
