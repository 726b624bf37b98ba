import { type ParseArgsConfig, parseArgs } from 'node:util'

/** Wrong use of a command: one line that lists the valid names, exit status 2. */
export class CommandLineError extends Error {}

export function parseOptions<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const names = Object.keys(config.options ?? {}).map((name) => `--${name}`)
    // Node adds advice on passing the word as a value, which no command here accepts.
    const [what = ''] = error.message.split(/\. |\n/, 1)
    throw new CommandLineError(`${what.replace(/\.$/, '')}; the options are ${names.join(', ') || 'none'}`)
  }
}

/** `what` is the kind of thing, in the singular. Throws CommandLineError that lists the valid names. */
export function chosen<T>(what: string, word: string, things: Readonly<Record<string, T>>): T {
  const thing = Object.hasOwn(things, word) ? things[word] : undefined
  if (thing === undefined) {
    const problem = word === '' ? `no ${what} is named` : `there is no ${what} ${word}`
    throw new CommandLineError(`${problem}; there are ${Object.keys(things).join(', ')}`)
  }
  return thing
}

export function explainCommandLine(error: unknown): never {
  if (!(error instanceof CommandLineError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(2)
}
