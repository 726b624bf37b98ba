import { spawn } from 'node:child_process'
import { delivered, type Outcome, temporary } from '#shared/delivery/outcome.ts'
import { shell } from '#shared/monitoring/integrations/kinds/shell.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'
import { toIsoSeconds } from '#shared/time.ts'
import { defineTransport } from './transport.ts'

/** Time limit of any delivery (docs/spec/monitoring.md#delivery-attempts). */
const MAX_MS = 30_000
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Runs a local command where the operator allows it. Names and tags come from people: they are in its environment, never
 * in its text, so nothing in them is a command.
 */
export const shellTransport = defineTransport(shell, async ({ settings }, config, notification) => {
  if (!settings.mayRunCommands) {
    return temporary('Shell commands are not enabled', { failure: 'config', final: true })
  }
  return await run(notification.status === 'up' ? config.cmd_up : config.cmd_down, environmentOf(notification))
})

/** Nothing of our own environment, which holds our secrets. */
function environmentOf({ check, status, flipAt }: Notification): Record<string, string> {
  const { uuid, name, tags } = check
  return {
    PATH,
    CODE: uuid,
    STATUS: status,
    NOW: toIsoSeconds(flipAt),
    // No variable can hold a NUL, which no stored text has either.
    NAME: name,
    TAGS: tags,
  }
}

async function run(command: string, env: Record<string, string>): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  // A group of its own, so that what the command has started ends with it.
  const child = spawn('/bin/sh', ['-c', command], { env, cwd: '/', stdio: 'ignore', detached: true })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }, MAX_MS)
  child.once('error', () => resolve(temporary('The command could not be started', { failure: 'internal' })))
  child.once('exit', (code, signal) => {
    if (isLate) resolve(temporary('The command took too long', { failure: 'timeout' }))
    else if (code === 0) resolve(delivered)
    else resolve(temporary(`Command returned exit code ${code ?? signal}`, { failure: 'refused' }))
  })
  return await promise.finally(() => clearTimeout(timer))
}
