/** What a ping says by its address or method (monitoring behaviour 3). */
export type SignalKind = 'success' | 'start' | 'fail' | 'log'
