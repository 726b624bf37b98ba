import { execFile } from 'node:child_process'

export type CommandResult = { code: number; stdout: string; stderr: string }

export type CommandOptions = {
  env?: NodeJS.ProcessEnv
  cwd?: string
  timeoutMs?: number
  uid?: number
  gid?: number
}

/**
 * Uses no shell.
 * @returns exit code and output; 127 if the program does not exist, 124 after `timeoutMs` (default 60 s)
 */
export function runCommand(
  command: readonly string[],
  { timeoutMs = 60_000, env = process.env, ...options }: CommandOptions = {},
): Promise<CommandResult> {
  const [program = '', ...args] = command
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { ...options, env: withAdminPrograms(env), timeout: timeoutMs, maxBuffer: 32 * 1024 * 1024, encoding: 'utf8' },
      (error, stdout, stderr) => resolve({ code: exitCode(error), stdout, stderr: stderr || (error?.message ?? '') }),
    )
  })
}

/** The PATH of a normal login omits these folders. */
function withAdminPrograms(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, PATH: `${env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin` }
}

/**
 * @returns standard output without the final line break
 * @throws Error with the command and the end of its output
 */
export async function mustRun(command: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await runCommand(command, options)
  if (code !== 0) {
    const output = `${stdout}\n${stderr}`.trim().split('\n').slice(-15).join('\n')
    throw new Error(`${command.slice(0, 3).join(' ')} failed (${code}):\n${output}`)
  }
  return stdout.trimEnd()
}

function exitCode(error: { code?: unknown; killed?: boolean } | null): number {
  if (!error) return 0
  if (error.code === 'ENOENT') return 127
  if (error.killed) return 124
  return typeof error.code === 'number' ? error.code : 1
}
