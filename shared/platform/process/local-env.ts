import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'

/** Safe to delete after `make down`. */
export const stateDirectory = resolve(import.meta.dirname, '../../../.local')

/** The environment wins. Tests never read the file, so that a running stack cannot change their result. */
export function withLocalEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const file = env.LOCAL_ENV_FILE ?? (env.NODE_ENV === 'test' ? '' : `${stateDirectory}/env`)
  if (file === '') return env
  return completedEnv(env, readEnvFile(file))
}

/** The environment wins, also if it gives the file of a value (`NAME_FILE`). */
export function completedEnv(env: NodeJS.ProcessEnv, stored: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...env, ...Object.fromEntries(Object.entries(stored).filter(([name]) => !isSet(env, name))) }
}

export function readEnvFile(file: string): Record<string, string> {
  try {
    const entries = Object.entries(parseEnv(readFileSync(file, 'utf8')))
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
    throw error
  }
}

/** A shell can read the text as well. Throws for a value with all three kinds of quotes. */
export function formatEnvFile(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${quoted(name, value)}\n`)
    .join('')
}

function quoted(name: string, value: string): string {
  if (/^[\w./:@%+,-]*$/.test(value)) return value
  const quote = ["'", '"', '`'].find((each) => !value.includes(each))
  if (!quote) throw new Error(`${name} holds every kind of quote: give it as ${name}_FILE`)
  return `${quote}${value}${quote}`
}

function isSet(env: NodeJS.ProcessEnv, name: string): boolean {
  return Boolean(env[name]) || Boolean(env[`${name}_FILE`])
}
