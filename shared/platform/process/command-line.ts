import { type ParseArgsConfig, parseArgs } from 'node:util'

/** A command line that makes no sense: one line that also lists what there is, exit status 2. */
export class CommandLineError extends Error {}

/** `parseArgs`, whose refusals list the options that there are. @throws CommandLineError */
export function parseOptions<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const names = Object.keys(config.options ?? {}).map((name) => `--${name}`)
    // Node adds advice on how to pass such a word as a value: no command here takes one.
    const [what = ''] = error.message.split(/\. |\n/, 1)
    throw new CommandLineError(`${what.replace(/\.$/, '')}; the options are ${names.join(', ') || 'none'}`)
  }
}

/**
 * What a word on the command line stands for.
 * @param what the kind of thing, in the singular, for the message
 * @throws CommandLineError that lists the names there are
 */
export function chosen<T>(what: string, word: string, things: Readonly<Record<string, T>>): T {
  const thing = Object.hasOwn(things, word) ? things[word] : undefined
  if (thing === undefined) {
    const problem = word === '' ? `no ${what} is named` : `there is no ${what} ${word}`
    throw new CommandLineError(`${problem}; there are ${Object.keys(things).join(', ')}`)
  }
  return thing
}

/** Ends an entry file whose command line makes no sense; anything else is thrown on. */
export function explainCommandLine(error: unknown): never {
  if (!(error instanceof CommandLineError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(2)
}
