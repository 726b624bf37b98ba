/** The signal that the URL or method of a ping requests (docs/spec/monitoring.md#keyword-filters). */
export type SignalKind = 'success' | 'start' | 'fail' | 'log'
