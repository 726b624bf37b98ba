/** What a ping says by its address or method (docs/spec/monitoring.md#keyword-filters). */
export type SignalKind = 'success' | 'start' | 'fail' | 'log'
