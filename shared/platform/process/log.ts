import { type Logger, pino } from 'pino'

export type Log = Logger

/**
 * Callers log the name of an event (`mail.sent`) and ids, never contents. ERROR: a person must act. WARN: something failed
 * or is unusual, and the process continues.
 */
export function createLog(level: string, processName: string): Log {
  return pino({
    level,
    base: { process: processName, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: ['*.authorization', '*.apiKey', '*.secret', '*.password'], censor: '[redacted]' },
  })
}

export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: String(error) }
  const code = 'code' in error ? error.code : undefined
  return {
    error: error.message,
    errorName: error.name,
    ...(code === undefined ? {} : { errorCode: code }),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  }
}
